import { ADMINISTRATOR_SETTINGS, type CliCommand } from './command.ts';
import { adminClient, neededFlag, URL_FLAG } from './command-token.ts';
import { type NamedTeam, teamsOf, word } from './named.ts';

/** `tidemark team add` and `tidemark team list`. */

export const teamAddCommand: CliCommand = {
	summary: 'Create a workspace in a running server.',
	usage: 'NAME [--domain NAME] [--url http://localhost:8080]',
	operand: 'name',
	options: {
		name: { help: 'name of the workspace', takesValue: true },
		domain: { help: 'short name in addresses; made from the name unless given', takesValue: true },
		url: URL_FLAG,
	},
	...ADMINISTRATOR_SETTINGS,
	run: async (invocation) => {
		const name = neededFlag(invocation, 'name');
		const { domain } = invocation.options;
		const call = await adminClient(invocation);
		const { team } = await call<{ team: NamedTeam }>('admin.teams.create', {
			name,
			...(domain === undefined ? {} : { domain }),
		});
		console.log(`${team.id}  ${team.name} (${team.domain}) created.`);
		console.log(`Next: tidemark invite --team ${word(team.name)}   makes a link that lets one person in.`);
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
			console.log('There is no workspace yet. Next: tidemark team add NAME   creates one.');
		return 0;
	},
};
