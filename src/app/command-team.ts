import { ADMINISTRATOR_SETTINGS, adminClient, URL_FLAG } from './admin-client.ts';
import { type CliCommand, neededFlag } from './command.ts';
import { ConfigError } from './config.ts';
import { isSameName, type NamedTeam, teamFlag, teamsOf } from './find-by-name.ts';
import { nextCommand } from './next-steps.ts';

/** `tidemark team add` and `tidemark team list`. */

const GENERAL = 'general';

export const teamAddCommand: CliCommand = {
	summary: 'Create a workspace in a running server.',
	usage: 'NAME [--domain NAME] [--channel NAME | --no-channel] [--same-name] [--url http://localhost:8080]',
	operand: 'name',
	options: {
		name: { help: 'name of the workspace', takesValue: true },
		domain: { help: 'short name for addresses; default: derived from the name', takesValue: true },
		channel: { help: 'channel that all people join; default: general', takesValue: true },
		'no-channel': { help: 'create the workspace without that channel', takesValue: false },
		'same-name': { help: 'create it even if a workspace of this name exists', takesValue: false },
		url: URL_FLAG,
	},
	...ADMINISTRATOR_SETTINGS,
	run: async (invocation) => {
		const name = neededFlag(invocation, 'name');
		const { domain, channel, 'no-channel': noChannel, 'same-name': sameName } = invocation.options;
		if (channel !== undefined && noChannel === 'true')
			throw new ConfigError(['give --channel or --no-channel, not both']);
		const call = await adminClient(invocation);
		const teams = await teamsOf(call);
		const existing = teams.find((one) => isSameName(one.name, name));
		if (existing && sameName !== 'true')
			throw new ConfigError([
				`a workspace named "${existing.name}" exists already (${existing.id}): choose another name, or add --same-name to create a second one`,
			]);
		const { team } = await call<{ team: NamedTeam }>('admin.teams.create', {
			name,
			...(domain === undefined ? {} : { domain }),
			...(noChannel === 'true' ? {} : { general_channel: channel ?? GENERAL }),
		});
		console.log(`${team.id}  ${team.name} (${team.domain}) created.`);
		if (noChannel !== 'true')
			console.log(`All people that you add or invite join #${channel ?? GENERAL}; bots do not.`);
		const flag = teamFlag(team, [...teams, team]);
		console.log(
			`Next: ${nextCommand(invocation, `invite --team ${flag}`)}   creates a link that invites one person.`,
		);
		return 0;
	},
};

export const teamListCommand: CliCommand = {
	summary: 'List the workspaces of a running server.',
	usage: '[--url http://localhost:8080]',
	options: { url: URL_FLAG },
	...ADMINISTRATOR_SETTINGS,
	run: async (invocation) => {
		const teams = await teamsOf(await adminClient(invocation));
		for (const { id, name, domain } of teams) console.log(`${id}  ${name} (${domain})`);
		if (teams.length === 0)
			console.log(
				`There is no workspace yet. Next: ${nextCommand(invocation, 'team add NAME')}   creates one.`,
			);
		return 0;
	},
};
