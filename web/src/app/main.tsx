import { createRoot } from 'react-dom/client';
import { Arrival } from '../arrival/Arrival.tsx';
import { recoverTexts } from '../files/upload-texts.ts';
import { followNotifications } from '../notifications/clicks.ts';
import { followTheme } from '../session/theme.ts';
import { followLinks, takeFromLink } from '../session/token.ts';
import { App } from './App.tsx';

recoverTexts();
followTheme();
followNotifications();
const LINKED = ['token', 'invite'];
const { token, invite } = takeFromLink(LINKED);
followLinks(LINKED);
const root = document.getElementById('root');
if (root)
	createRoot(root).render(
		<Arrival token={token} invite={invite}>
			<App />
		</Arrival>,
	);
