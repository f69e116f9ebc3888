import { useSyncExternalStore } from 'react';

/** The theme, light or dark. Follows the operating system until the user chooses. */

const KEY = 'tidemark.theme';
export type Theme = 'light' | 'dark';

const systemDark = () => matchMedia('(prefers-color-scheme: dark)');
const systemIsDark = (): boolean => systemDark().matches;

const currentTheme = (): Theme => {
	const chosen = localStorage.getItem(KEY);
	return chosen === 'light' || chosen === 'dark' ? chosen : systemIsDark() ? 'dark' : 'light';
};

function applyTheme(): void {
	const chosen = localStorage.getItem(KEY);
	if (chosen) document.documentElement.dataset.theme = chosen;
	else delete document.documentElement.dataset.theme;
}

const listeners = new Set<() => void>();

export function toggleTheme(): void {
	const next = currentTheme() === 'dark' ? 'light' : 'dark';
	// A choice equal to the system's setting is not stored, so that the page keeps following the system.
	if (next === (systemIsDark() ? 'dark' : 'light')) localStorage.removeItem(KEY);
	else localStorage.setItem(KEY, next);
	applyTheme();
	for (const listener of listeners) listener();
}

/** Applies the theme, also when another tab or a frame changes it. */
export function followTheme(): void {
	applyTheme();
	addEventListener('storage', ({ key }) => {
		if (key === KEY) applyTheme();
	});
}

function subscribe(listener: () => void): () => void {
	const system = systemDark();
	listeners.add(listener);
	system.addEventListener('change', listener);
	addEventListener('storage', listener);
	return () => {
		listeners.delete(listener);
		system.removeEventListener('change', listener);
		removeEventListener('storage', listener);
	};
}

export const useTheme = (): Theme => useSyncExternalStore(subscribe, currentTheme);
