import { createRoot } from 'react-dom/client';
import { followTheme } from '../session/theme.ts';
import { Toast } from '../session/toast.tsx';
import { Admin } from './Admin.tsx';

followTheme();
const root = document.getElementById('root');
if (root)
	createRoot(root).render(
		<>
			<Admin />
			<Toast />
		</>,
	);
