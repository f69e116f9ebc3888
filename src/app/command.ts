import type { Config } from './config.ts';

/** What a command of the command line is. */

export interface Invocation {
	readonly config: Config;
	/** Flags of the command alone. */
	readonly options: Readonly<Record<string, string | undefined>>;
}

export interface CliCommand {
	readonly summary: string;
	readonly usage: string;
	/** Flags beside the settings: name and help. */
	readonly options: Readonly<Record<string, { readonly help: string; readonly takesValue: boolean }>>;
	readonly run: (invocation: Invocation) => Promise<number>;
}
