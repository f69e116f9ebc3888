import { createRoot } from 'react-dom/client';
import { followTheme } from '../session/theme.ts';
import { keepToken, keptToken, takeFromLink } from '../session/token.ts';
import { Devices } from './Devices.tsx';

followTheme();
const FRIEND = 'tidemark.friend';
const { token, friend } = takeFromLink(['token', 'friend']);
if (token) keepToken(token);
// So that a reload keeps both.
if (friend) sessionStorage.setItem(FRIEND, friend);
const root = document.getElementById('root');
if (root) createRoot(root).render(<Devices token={keptToken()} friend={sessionStorage.getItem(FRIEND)} />);
