import { IconButton } from '../ui/IconButton.tsx';
import { toggleTheme, useTheme } from './theme.ts';

/** Switches between the light and the dark theme. */
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
