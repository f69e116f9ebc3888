import { readFileSync } from 'node:fs';
import { type OtherReader, SETTINGS, type Setting, type SettingName } from './settings.ts';

/** Reads the configuration as a whole: flags win over the environment, and all problems are reported at once. */

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

export const ALL_SETTINGS: readonly SettingName[] = entries.map(([name]) => name);

/** Ends the name of a variable that names a file with the secret in it: what a container is given, and nobody can list. */
const IN_FILE = '_FILE';

export function readConfig(
	flags: Readonly<Record<string, string | undefined>>,
	environment: Readonly<Record<string, string | undefined>>,
): Config {
	const problems: string[] = [];
	const values: Partial<Record<SettingName, unknown>> = {};
	for (const [name, setting] of entries) {
		const flag = flags[setting.flag];
		const variable = environment[setting.environment];
		let given = flag ?? (variable === '' ? undefined : variable);
		try {
			given ??= secretInFile(setting, environment);
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

function secretInFile(
	{ secret, environment: name }: Setting<unknown>,
	environment: Readonly<Record<string, string | undefined>>,
): string | undefined {
	const file = environment[name + IN_FILE];
	if (!secret || !file) return undefined;
	try {
		return readFileSync(file, 'utf8').replace(/\r?\n$/, '');
	} catch (error) {
		throw new Error(`cannot be read from ${file}: ${(error as Error).message}`);
	}
}

/** Of these settings, the variables of those that have no value. */
export const missing = (config: Config, names: readonly SettingName[]): string[] =>
	names.filter((name) => config[name] === null).map((name) => SETTINGS[name].environment);

/** Variables that look like settings and are none: mistyped, or of another version. */
export function unknownVariables(environment: Readonly<Record<string, string | undefined>>): string[] {
	const known = new Set<string>(
		entries.flatMap(([, { environment: name, secret }]) => (secret ? [name, name + IN_FILE] : [name])),
	);
	return Object.keys(environment).filter(
		(name) => name.startsWith('TIDEMARK_') && !known.has(name) && !OF_SCRIPTS.test(name),
	);
}

/** Variables of scripts/services and of the tests: not mistyped settings. */
const OF_SCRIPTS = /^TIDEMARK_(SERVICES_DIR|SERVICES_OWNER|TEST_\w+)$/;

/** What is in force, for the log: secrets are masked. */
export function describeConfig(config: Config): Record<string, unknown> {
	return Object.fromEntries(
		entries.map(([name, setting]) => [name, setting.secret && config[name] !== null ? '***' : config[name]]),
	);
}

/** Flags stand in a column of their own, as wide as the longest of them. */
export const FLAG_COLUMN = Math.max(...entries.map(([, { flag }]) => flag.length));

/** Lines of help about these settings, as they apply to the command. */
export function settingsHelp(names: readonly SettingName[] = ALL_SETTINGS, reader?: OtherReader): string {
	return entries
		.filter(([name]) => names.includes(name))
		.map(([, { flag, environment, help, helpFor, fallback, secret }]) => {
			const words = (reader && helpFor?.[reader]) ?? help;
			const standard = fallback === null ? '' : ` (${String(fallback)})`;
			const variables = secret
				? `${environment}, or ${environment}${IN_FILE}: a file that holds it`
				: environment;
			return `  --${flag.padEnd(FLAG_COLUMN)} ${words}${standard}\n${' '.repeat(FLAG_COLUMN + 5)}${variables}`;
		})
		.join('\n');
}
