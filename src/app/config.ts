import { readFileSync } from 'node:fs';
import type { HelpVariant, Setting } from './settings/setting.ts';
import { SETTINGS, type SettingName } from './settings.ts';

/**
 * Reads and checks the whole configuration: flags win over environment variables; all problems are reported
 * together.
 */

export type Config = {
	readonly [Name in SettingName]: (typeof SETTINGS)[Name] extends Setting<infer T> ? T : never;
};

/** Invalid settings: each problem names the setting and says what is wrong with it. */
export class ConfigError extends Error {
	constructor(readonly problems: readonly string[]) {
		super(problems.join('\n'));
		this.name = 'ConfigError';
	}
}

const entries = Object.entries(SETTINGS) as [SettingName, Setting<unknown>][];

export const ALL_SETTINGS: readonly SettingName[] = entries.map(([name]) => name);

/** Suffix of a variable that names a file with the secret: containers mount secrets as files. */
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
			// Do not print a rejected secret: it may be the real one with a typing error.
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

/** The environment variables of those settings in `names` that have no value. */
export const missingSettings = (config: Config, names: readonly SettingName[]): string[] =>
	names.filter((name) => config[name] === null).map((name) => SETTINGS[name].environment);

/** Variables that start like a setting but are none: misspelt, or of another version. */
export function unknownVariables(environment: Readonly<Record<string, string | undefined>>): string[] {
	const known = new Set<string>(
		entries.flatMap(([, { environment: name, secret }]) => (secret ? [name, name + IN_FILE] : [name])),
	);
	return Object.keys(environment).filter(
		(name) => name.startsWith('TIDEMARK_') && !known.has(name) && !OF_SCRIPTS.test(name),
	);
}

/** Variables that scripts/services and the tests use. */
const OF_SCRIPTS = /^TIDEMARK_(SERVICES|TEST)_\w+$/;

/** The effective settings for the log, with secrets masked. */
export function describeConfig(config: Config): Record<string, unknown> {
	return Object.fromEntries(
		entries.map(([name, setting]) => [name, setting.secret && config[name] !== null ? '***' : config[name]]),
	);
}

/** Width of the column of flags in help texts. */
export const FLAG_COLUMN = Math.max(...entries.map(([, { flag }]) => flag.length));

/** Help lines for these settings, in the given variant. */
export function settingsHelp(names: readonly SettingName[] = ALL_SETTINGS, variant?: HelpVariant): string {
	return entries
		.filter(([name]) => names.includes(name))
		.map(([, { flag, environment, help, helpFor, fallback, secret }]) => {
			const text = (variant && helpFor?.[variant]) ?? help;
			const standard = fallback === null ? '' : ` (${String(fallback)})`;
			const variables = secret
				? `${environment}, or ${environment}${IN_FILE}: path of a file with the value`
				: environment;
			return `  --${flag.padEnd(FLAG_COLUMN)} ${text}${standard}\n${' '.repeat(FLAG_COLUMN + 5)}${variables}`;
		})
		.join('\n');
}
