import { adminClient, URL_FLAG } from './admin-client.ts';
import type { CliCommand, Invocation } from './command.ts';
import { ConfigError } from './config.ts';
import { countsFindings } from './doctor/counts.ts';
import { examine } from './doctor/doctor.ts';
import { bad, type Finding, lineOf } from './doctor/finding.ts';
import { userNamed } from './find-by-name.ts';

/**
 * `tidemark doctor`: finds problems with this machine and its settings, and says how to fix them. With --user or
 * --channel it checks the counts of a running server.
 */

const SOCKETS = 1_000;

export const doctorCommand: CliCommand = {
	summary:
		'Check the machine, settings, data, services or counts, and say how to fix what is wrong. Changes nothing without --repair.',
	usage:
		'[--json] [--sockets 1000] [settings]\n       tidemark doctor [--user NAME] [--team NAME] [--channel C…] [--repair] [--json] [--url http://localhost:8080]',
	options: {
		json: { help: 'print the findings as JSON', takesValue: false },
		sockets: { help: `number of sockets to expect (${SOCKETS})`, takesValue: true },
		user: {
			help: 'user, by name or id, whose counts to compare with the store of a running server',
			takesValue: true,
		},
		team: { help: 'workspace of --user, by name or id; optional if there is only one', takesValue: true },
		channel: {
			help: 'id of the conversation to compare; without --user, for 100 of its members',
			takesValue: true,
		},
		repair: { help: 'reload the views that differ from the store', takesValue: false },
		url: URL_FLAG,
	},
	run: async (invocation) => {
		return report(await findingsOf(invocation), invocation.options);
	},
	onInvalidSettings: (problems, options) =>
		report(
			problems.map((problem) => bad('settings', problem, 'Correct or remove the setting')),
			options,
		),
};

/** Prints the findings; returns the exit code. */
function report(findings: readonly Finding[], options: Invocation['options']): number {
	const isSound = findings.every(({ state }) => state !== 'bad');
	if (options.json === 'true') console.log(JSON.stringify({ ok: isSound, findings }, null, 2));
	else for (const finding of findings) console.log(lineOf(finding));
	return isSound ? 0 : 1;
}

async function findingsOf(invocation: Invocation): Promise<Finding[]> {
	const { user, team, channel, repair, url, sockets: wanted } = invocation.options;
	if (team !== undefined && user === undefined) throw new ConfigError(['--team needs --user']);
	if (user !== undefined || channel !== undefined) {
		const call = await adminClient(invocation);
		const id = user === undefined ? undefined : await userNamed(call, user, team);
		return countsFindings(call, { user: id, channel, repair: repair === 'true' });
	}
	for (const [flag, value] of Object.entries({ repair, url }))
		if (value !== undefined) throw new ConfigError([`--${flag} needs --user or --channel`]);
	const sockets = Number(wanted ?? SOCKETS);
	if (!Number.isSafeInteger(sockets) || sockets < 0)
		throw new ConfigError([`--sockets "${wanted}" is not a whole number of 0 or more`]);
	return examine(invocation.config, process.env, sockets);
}
