import { ADMINISTRATOR_SETTINGS, type CliCommand } from './command.ts';
import { adminClient, neededFlag, URL_FLAG } from './command-token.ts';
import { ConfigError } from './config.ts';
import { type NamedTeam, teamsOf, word } from './named.ts';

/** `tidemark team add` and `tidemark team list`. */

export const teamAddCommand: CliCommand = {
	summary: 'Create a workspace in a running server.',
	usage: 'NAME [--domain NAME] [--same-name] [--url http://localhost:8080]',
	operand: 'name',
	options: {
		name: { help: 'name of the workspace', takesValue: true },
		domain: { help: 'short name in addresses; made from the name unless given', takesValue: true },
		'same-name': { help: 'create it even if a workspace of this name exists', takesValue: false },
		url: URL_FLAG,
	},
	...ADMINISTRATOR_SETTINGS,
	run: async (invocation) => {
		const name = neededFlag(invocation, 'name');
		const { domain, 'same-name': sameName } = invocation.options;
		const call = await adminClient(invocation);
		const existing = (await teamsOf(call)).find((one) => isSameName(one.name, name));
		if (existing && sameName !== 'true')
			throw new ConfigError([
				`a workspace called "${existing.name}" exists already (${existing.id}): give another name, or --same-name to create a second one`,
			]);
		const { team } = await call<{ team: NamedTeam }>('admin.teams.create', {
			name,
			...(domain === undefined ? {} : { domain }),
		});
		console.log(`${team.id}  ${team.name} (${team.domain}) created.`);
		// A name that two workspaces have finds neither.
		const found = existing ? team.id : word(team.name);
		console.log(`Next: tidemark invite --team ${found}   creates a link that invites one person.`);
		return 0;
	},
};

const isSameName = (one: string, other: string): boolean =>
	one.trim().toLowerCase() === other.trim().toLowerCase();

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
