import { IconButton } from '../ui/IconButton.tsx';
import { toggleTheme, useTheme } from './theme.ts';

/** Changes between light and dark. */
export function ThemeButton() {
	const isDark = useTheme() === 'dark';
	return (
		<IconButton
			icon={isDark ? 'sun' : 'moon'}
			label={isDark ? 'Light colours' : 'Dark colours'}
			onClick={toggleTheme}
		/>
	);
}
