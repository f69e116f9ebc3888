import type { Config } from './config.ts';
import type { OtherReader, SettingName } from './settings.ts';

/** What a command of the command line is. */

export interface Invocation {
	readonly config: Config;
	/** Flags of the command alone. */
	readonly options: Readonly<Record<string, string | undefined>>;
}

/** Of commands that speak to a running server as its administrator. */
export const ADMINISTRATOR_SETTINGS = {
	settings: ['port', 'dataDir', 'adminToken'],
	reader: 'asking',
} as const satisfies Partial<CliCommand>;

export interface CliCommand {
	readonly summary: string;
	readonly usage: string;
	/** What else one should know before running it, a line each. */
	readonly details?: readonly string[];
	/** Flags beside the settings: name and help. */
	readonly options: Readonly<Record<string, { readonly help: string; readonly takesValue: boolean }>>;
	/** The flag that a word without one stands for: `user add mia` is `user add --name mia`. */
	readonly operand?: string;
	/** Of the settings, those it goes by; all where nothing is said. */
	readonly settings?: readonly SettingName[];
	/** Whose words about them are true for it. */
	readonly reader?: OtherReader;
	/** Instead of `run` where settings cannot be read; without it that is an error. */
	readonly unreadable?: (problems: readonly string[], options: Invocation['options']) => number;
	readonly run: (invocation: Invocation) => Promise<number>;
}
