/** Light or dark: as the system says, until somebody chooses. */

const KEY = 'tidemark.theme';
export type Theme = 'light' | 'dark';

const systemIsDark = (): boolean => matchMedia('(prefers-color-scheme: dark)').matches;

export const currentTheme = (): Theme => {
	const chosen = localStorage.getItem(KEY);
	return chosen === 'light' || chosen === 'dark' ? chosen : systemIsDark() ? 'dark' : 'light';
};

export function applyTheme(): void {
	const chosen = localStorage.getItem(KEY);
	if (chosen) document.documentElement.dataset.theme = chosen;
	else delete document.documentElement.dataset.theme;
}

export function toggleTheme(): Theme {
	const next = currentTheme() === 'dark' ? 'light' : 'dark';
	// What the system says anyway is no choice: it goes on following the system.
	if (next === (systemIsDark() ? 'dark' : 'light')) localStorage.removeItem(KEY);
	else localStorage.setItem(KEY, next);
	applyTheme();
	return next;
}

/** Frames and other tabs follow. */
export function followTheme(): void {
	applyTheme();
	addEventListener('storage', ({ key }) => {
		if (key === KEY) applyTheme();
	});
}
