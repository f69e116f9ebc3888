/** The result of one check, and how to fix what is wrong. */

export interface Finding {
	readonly about: string;
	/** `warn`: works now, may fail later. `bad`: does not work, or loses data. */
	readonly state: 'ok' | 'warn' | 'bad';
	readonly found: string;
	readonly fix?: string;
}

export const ok = (about: string, found: string): Finding => ({ about, state: 'ok', found });
export const warn = (about: string, found: string, fix: string): Finding => ({
	about,
	state: 'warn',
	found,
	fix,
});
export const bad = (about: string, found: string, fix: string): Finding => ({
	about,
	state: 'bad',
	found,
	fix,
});

/** One line: state, subject, result, fix. */
export function lineOf({ about, state, found, fix }: Finding): string {
	const line = `${state.padEnd(4)}  ${about.padEnd(14)}  ${found}`;
	return (fix === undefined ? line : `${line}. ${fix}`).replaceAll(/\s*\n\s*/g, ' ');
}
