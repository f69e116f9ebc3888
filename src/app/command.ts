import type { Config } from './config.ts';
import type { HelpVariant } from './settings/setting.ts';
import type { SettingName } from './settings.ts';

/** The shape of a command of the command line. */

export interface Invocation {
	readonly config: Config;
	/** All given flags, including those of settings. */
	readonly options: Readonly<Record<string, string | undefined>>;
}

/** A command cannot run without this flag. */
export class MissingFlag extends Error {
	constructor(readonly flag: string) {
		super(`--${flag} is missing`);
		this.name = 'MissingFlag';
	}
}

export function neededFlag({ options }: Pick<Invocation, 'options'>, flag: string): string {
	const value = options[flag];
	if (value === undefined) throw new MissingFlag(flag);
	return value;
}

export interface CliCommand {
	readonly summary: string;
	readonly usage: string;
	/** Lines that the help prints below the summary. */
	readonly details?: readonly string[];
	/** Flags in addition to the settings. */
	readonly options: Readonly<Record<string, { readonly help: string; readonly takesValue: boolean }>>;
	/** The flag that a bare argument sets: `user add mia` means `user add --name mia`. */
	readonly operand?: string;
	/** The settings that the command uses; default: all. */
	readonly settings?: readonly SettingName[];
	/** Selects the variant of a setting's help that applies to this command. */
	readonly helpVariant?: HelpVariant;
	/** Called instead of `run` if settings are invalid; without it, invalid settings are an error. */
	readonly onInvalidSettings?: (problems: readonly string[], options: Invocation['options']) => number;
	readonly run: (invocation: Invocation) => Promise<number>;
}
