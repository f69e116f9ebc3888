import { SETTINGS, type Setting, type SettingName } from './settings.ts';

/** Reads the configuration as a whole: flags win over the environment, every problem is told at once. */

export type Config = {
	readonly [Name in SettingName]: (typeof SETTINGS)[Name] extends Setting<infer T> ? T : never;
};

/** Wrong settings, each with its name and what is wrong about it. */
export class ConfigError extends Error {
	constructor(readonly problems: readonly string[]) {
		super(problems.join('\n'));
		this.name = 'ConfigError';
	}
}

const entries = Object.entries(SETTINGS) as [SettingName, Setting<unknown>][];

export function readConfig(
	flags: Readonly<Record<string, string | undefined>>,
	environment: Readonly<Record<string, string | undefined>>,
): Config {
	const problems: string[] = [];
	const values: Partial<Record<SettingName, unknown>> = {};
	for (const [name, setting] of entries) {
		const flag = flags[setting.flag];
		const variable = environment[setting.environment];
		const given = flag ?? (variable === '' ? undefined : variable);
		try {
			values[name] = given === undefined ? setting.fallback : setting.parse(given);
		} catch (error) {
			const where = flag === undefined ? setting.environment : `--${setting.flag}`;
			// A wrong secret is not repeated: it may be a right one, mistyped.
			const shown = setting.secret ? '' : ` "${given}"`;
			problems.push(`${where}${shown} ${(error as Error).message}`);
		}
	}
	if (problems.length > 0) throw new ConfigError(problems);
	return Object.freeze(values) as Config;
}

/** Variables that look like settings and are none: mistyped, or of another version. */
export function unknownVariables(environment: Readonly<Record<string, string | undefined>>): string[] {
	const known = new Set<string>(entries.map(([, setting]) => setting.environment));
	return Object.keys(environment).filter((name) => name.startsWith('TIDEMARK_') && !known.has(name));
}

/** What is in force, for the log: secrets are masked. */
export function describeConfig(config: Config): Record<string, unknown> {
	return Object.fromEntries(
		entries.map(([name, setting]) => [name, setting.secret && config[name] !== null ? '***' : config[name]]),
	);
}

/** Flags stand in a column of their own, as wide as the longest of them. */
export const FLAG_COLUMN = Math.max(...entries.map(([, { flag }]) => flag.length));

/** Lines of help about these settings. */
export function settingsHelp(names: readonly SettingName[] = entries.map(([name]) => name)): string {
	return entries
		.filter(([name]) => names.includes(name))
		.map(([, { flag, environment, help, fallback }]) => {
			const standard = fallback === null ? '' : ` (${String(fallback)})`;
			return `  --${flag.padEnd(FLAG_COLUMN)} ${help}${standard}\n${' '.repeat(FLAG_COLUMN + 5)}${environment}`;
		})
		.join('\n');
}
