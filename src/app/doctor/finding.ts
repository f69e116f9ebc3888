/** What a look at one thing found, and what to do about it. */

export interface Finding {
	readonly about: string;
	/** `warn`: it works, and may surprise later. `bad`: it does not, or loses something. */
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

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** One line each: state, what it is about, what was found, what to do. */
export function lineOf({ about, state, found, fix }: Finding): string {
	const line = `${state.padEnd(4)}  ${about.padEnd(14)}  ${found}`;
	return (fix === undefined ? line : `${line}. ${fix}`).replaceAll(/\s*\n\s*/g, ' ');
}
