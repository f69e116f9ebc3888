import { createRoot } from 'react-dom/client';
import { Arrival } from '../arrival/Arrival.tsx';
import { followTheme } from '../session/theme.ts';
import { Toast } from '../session/toast.tsx';
import { storedToken, takeFromLink } from '../session/token.ts';
import { Devices } from './Devices.tsx';

followTheme();
const FRIEND = 'tidemark.friend';
const { token, friend } = takeFromLink(['token', 'friend']);
// Stored for this tab, so that a reload keeps the friend. `Arrival` stores the user's own token.
if (friend) sessionStorage.setItem(FRIEND, friend);
const root = document.getElementById('root');
const Page = () => <Devices token={storedToken()} friend={sessionStorage.getItem(FRIEND)} />;
if (root)
	createRoot(root).render(
		<>
			<Arrival token={token} invite={undefined}>
				<Page />
			</Arrival>
			<Toast />
		</>,
	);
