import { createRoot } from 'react-dom/client';
import { followNotifications } from '../notifications/clicks.ts';
import { followTheme } from '../session/theme.ts';
import { keepToken, takeFromLink } from '../session/token.ts';
import { App } from './App.tsx';

followTheme();
followNotifications();
const { token } = takeFromLink(['token']);
if (token) keepToken(token);
const root = document.getElementById('root');
if (root) createRoot(root).render(<App />);
