import { parseArgs } from 'node:util';
import { type CliCommand, MissingFlag } from './command.ts';
import {
	appCreateCommand,
	appDeleteCommand,
	appInfoCommand,
	appListCommand,
	appResumeCommand,
	appUpdateCommand,
	appWebhookCommand,
} from './command-app.ts';
import { benchCommand } from './command-bench.ts';
import { gatewayCommand, workerCommand } from './command-cluster.ts';
import { doctorCommand } from './command-doctor.ts';
import { inviteCommand, inviteListCommand, inviteRevokeCommand } from './command-invite.ts';
import { pushCommand } from './command-push.ts';
import { seedCommand } from './command-seed.ts';
import { serveCommand } from './command-serve.ts';
import { teamAddCommand, teamListCommand } from './command-team.ts';
import { tokenCommand, tokenListCommand, tokenRevokeCommand } from './command-token.ts';
import {
	userAddCommand,
	userDeactivateCommand,
	userListCommand,
	userReactivateCommand,
} from './command-user.ts';
import { type Config, ConfigError, FLAG_COLUMN, readConfig, settingsHelp } from './config.ts';
import { SETTINGS } from './settings.ts';
import { explainFailure } from './start-failures.ts';
import { VERSION } from './version.ts';

/** The command line: finds the command, parses its flags and prints usage errors. */

const COMMANDS: Readonly<Record<string, CliCommand>> = {
	serve: serveCommand,
	gateway: gatewayCommand,
	worker: workerCommand,
	'team add': teamAddCommand,
	'team list': teamListCommand,
	invite: inviteCommand,
	'invite list': inviteListCommand,
	'invite revoke': inviteRevokeCommand,
	'user add': userAddCommand,
	'user list': userListCommand,
	'user deactivate': userDeactivateCommand,
	'user reactivate': userReactivateCommand,
	token: tokenCommand,
	'token list': tokenListCommand,
	'token revoke': tokenRevokeCommand,
	'app create': appCreateCommand,
	'app update': appUpdateCommand,
	'app list': appListCommand,
	'app info': appInfoCommand,
	'app webhook': appWebhookCommand,
	'app resume': appResumeCommand,
	'app delete': appDeleteCommand,
	push: pushCommand,
	seed: seedCommand,
	doctor: doctorCommand,
	bench: benchCommand,
};

const COMMAND_COLUMN = Math.max(...Object.keys(COMMANDS).map(({ length }) => length));

const USAGE_ERROR = 2;

export async function run(argv: readonly string[]): Promise<number> {
	const { name, rest } = commandIn(argv);
	// Users of other programs try `tidemark help serve`.
	if (name === 'help' && rest.length > 0) return run([...rest, '--help']);
	if (name === '' || name === '--help' || name === '-h' || name === 'help') {
		console.log(generalHelp());
		return name === '' ? USAGE_ERROR : 0;
	}
	if (name === '--version' || name === '-v') {
		console.log(VERSION);
		return 0;
	}
	const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
	if (!command)
		return groupHelp(name, rest) ?? usageError(`there is no command "${name}"`, 'tidemark --help');
	if (rest.includes('--help') || rest.includes('-h')) {
		console.log(helpOf(name, command));
		return 0;
	}
	try {
		const flags = readFlags(command, rest);
		const config = configOf(command, flags);
		return typeof config === 'number' ? config : await command.run({ config, options: flags });
	} catch (error) {
		if (error instanceof MissingFlag)
			return usageError(missingIn(name, command, error.flag), `tidemark ${name} --help`);
		if (error instanceof ConfigError) return usageError(error.message, `tidemark ${name} --help`);
		console.error(`tidemark: ${explainFailure(error)}`);
		return 1;
	}
}

/** Returns the settings, or the exit code if they are invalid and the command reports that itself. */
function configOf(command: CliCommand, flags: Record<string, string | undefined>): Config | number {
	try {
		return readConfig(flags, process.env);
	} catch (error) {
		if (!(error instanceof ConfigError) || !command.onInvalidSettings) throw error;
		return command.onInvalidSettings(error.problems, flags);
	}
}

/** A command is one word, or two words where several commands share a subject: `token list`. */
function commandIn([first = '', ...rest]: readonly string[]): { name: string; rest: readonly string[] } {
	const both = `${first} ${rest[0]}`;
	if (Object.hasOwn(COMMANDS, both)) return { name: both, rest: rest.slice(1) };
	return { name: first, rest };
}

/** Handles `tidemark user --help`: lists the commands of the group. Undefined: there is no such group. */
function groupHelp(group: string, rest: readonly string[]): number | undefined {
	const members = Object.entries(COMMANDS).filter(([name]) => name.startsWith(`${group} `));
	if (members.length === 0) return undefined;
	const wantsHelp = rest.includes('--help') || rest.includes('-h');
	const [unknown] = rest.filter((word) => !word.startsWith('-'));
	const problem = unknown
		? `there is no command "${group} ${unknown}"; choose one of these:`
		: `"${group}" is a group: add one of its commands`;
	if (!wantsHelp)
		return usageError([problem, ...summaries(members)].join('\n'), `tidemark ${members[0]?.[0]} --help`);
	console.log(['Usage: tidemark <command> [flags]', '', ...summaries(members)].join('\n'));
	return 0;
}

const summaries = (commands: readonly [string, CliCommand][]): string[] =>
	commands.map(([name, { summary }]) => `  ${name.padEnd(COMMAND_COLUMN)} ${summary}`);

function readFlags(command: CliCommand, argv: readonly string[]): Record<string, string | undefined> {
	const settings = Object.values(SETTINGS).map(({ flag }) => [flag, { type: 'string' as const }]);
	const own = Object.entries(command.options).map(([flag, { takesValue }]) => [
		flag,
		{ type: takesValue ? ('string' as const) : ('boolean' as const) },
	]);
	try {
		const { operand } = command;
		const { values, positionals } = parseArgs({
			args: [...argv],
			options: Object.fromEntries([...settings, ...own]),
			strict: true,
			allowPositionals: operand !== undefined,
		});
		const flags = Object.fromEntries(Object.entries(values).map(([flag, value]) => [flag, String(value)]));
		const [first, second] = positionals;
		if (operand === undefined || first === undefined) return flags;
		const extra = second ?? (flags[operand] === undefined ? undefined : first);
		if (extra !== undefined) throw new Error(`Unexpected argument '${extra}'`);
		return { ...flags, [operand]: first };
	} catch (error) {
		throw new ConfigError([(error as Error).message]);
	}
}

/** Names a missing flag as the usage does: NAME for the operand, --name for others. */
function missingIn(name: string, { usage, operand }: CliCommand, flag: string): string {
	const [word] = usage.split(' ');
	return `${flag === operand ? word : `--${flag}`} is missing.\nUsage: tidemark ${name} ${usage}`;
}

function usageError(problem: string, help: string): number {
	console.error(`tidemark: ${problem}\nSee '${help}'.`);
	return USAGE_ERROR;
}

const generalHelp = (): string =>
	[
		'Tidemark: a self-hosted chat server with exact unread counts, which speaks Slack’s Web API and RTM.',
		'',
		'Usage: tidemark <command> [flags]',
		'',
		...summaries(Object.entries(COMMANDS)),
		'',
		"'tidemark <command> --help' lists the flags of a command; 'tidemark --version' prints the version.",
	].join('\n');

function helpOf(name: string, command: CliCommand): string {
	const own = Object.entries(command.options).map(
		([flag, { help }]) => `  --${flag.padEnd(FLAG_COLUMN)} ${help}`,
	);
	return [
		`Usage: tidemark ${name} ${command.usage}`,
		'',
		command.summary,
		...(command.details ?? []),
		...(own.length > 0 ? ['', ...own] : []),
		'',
		'Settings, each a flag or an environment variable:',
		settingsHelp(command.settings, command.helpVariant),
	].join('\n');
}
