import { createRoot } from 'react-dom/client';
import { followTheme } from '../session/theme.ts';
import { Ops } from './Ops.tsx';

followTheme();
const root = document.getElementById('root');
if (root) createRoot(root).render(<Ops />);
