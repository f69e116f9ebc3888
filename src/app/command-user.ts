import { ADMINISTRATOR_SETTINGS, adminClient, TEAM_FLAG, URL_FLAG } from './admin-client.ts';
import { type CliCommand, type Invocation, neededFlag } from './command.ts';
import { listed, type NamedUser, shellWord, teamNamed, userNamed } from './find-by-name.ts';
import { nextCommand } from './next-steps.ts';

/** `tidemark user add`, `list`, `deactivate` and `reactivate`. */

interface Answered {
	readonly user: NamedUser;
}

export const userAddCommand: CliCommand = {
	summary: 'Create a user in a workspace of a running server.',
	usage: 'NAME [--team NAME] [--real-name …] [--email …] [--bot] [--url http://localhost:8080]',
	operand: 'name',
	options: {
		name: { help: 'short name, as in @name, or a full name to derive it from', takesValue: true },
		'real-name': { help: 'full name; default: the short name', takesValue: true },
		email: { help: 'e-mail address', takesValue: true },
		bot: { help: 'create a bot, which gets a token instead of an invite link', takesValue: false },
		team: TEAM_FLAG,
		url: URL_FLAG,
	},
	...ADMINISTRATOR_SETTINGS,
	run: async (invocation) => {
		const name = neededFlag(invocation, 'name');
		const { 'real-name': realName, email, bot, team } = invocation.options;
		const call = await adminClient(invocation);
		const { id: team_id, name: teamName, flag } = await teamNamed(call, team);
		const { user } = await call<Answered>('admin.users.create', {
			team_id,
			// A full name in place of the short one: `user add 'Mia Berg'` adds @mia.berg.
			...(realName === undefined && /\s/.test(name.trim()) ? { real_name: name } : { name }),
			is_bot: bot === 'true',
			...(realName === undefined ? {} : { real_name: realName }),
			...(email === undefined ? {} : { email }),
		});
		console.log(`${user.id}  ${user.name} added to ${teamName}.`);
		const who = `--user ${shellWord(user.name)} --team ${flag}`;
		console.log(
			user.is_bot
				? `Next: ${nextCommand(invocation, `token ${who}`)}   creates the token that the bot connects with.`
				: `Next: ${nextCommand(invocation, `invite ${who}`)}   creates a link that signs them in.`,
		);
		return 0;
	},
};

export const userListCommand: CliCommand = {
	summary: 'List the users of a workspace of a running server.',
	usage: '[--team NAME] [--url http://localhost:8080]',
	options: { team: TEAM_FLAG, url: URL_FLAG },
	...ADMINISTRATOR_SETTINGS,
	run: async (invocation) => {
		const call = await adminClient(invocation);
		const { id: team_id, name, flag } = await teamNamed(call, invocation.options.team);
		let count = 0;
		for await (const user of listed<NamedUser>(call, 'admin.users.list', 'users', { team_id })) {
			count += 1;
			const notes = [user.is_bot ? 'bot' : '', user.deleted ? 'deactivated' : ''].filter(Boolean).join(', ');
			console.log(`${user.id}  ${user.name}  ${user.real_name}${notes === '' ? '' : `  (${notes})`}`);
		}
		if (count === 0)
			console.log(
				`${name} has no users yet. Next: ${nextCommand(invocation, `invite --team ${flag}`)}   creates a link that invites one person.`,
			);
		return 0;
	},
};

const activationCommand = (
	method: string,
	summary: string,
	done: (invocation: Invocation, user: NamedUser) => string,
): CliCommand => ({
	summary,
	usage: 'NAME [--team NAME] [--url http://localhost:8080]',
	operand: 'user',
	options: {
		user: { help: 'user, by name or id', takesValue: true },
		team: TEAM_FLAG,
		url: URL_FLAG,
	},
	...ADMINISTRATOR_SETTINGS,
	run: async (invocation) => {
		const given = neededFlag(invocation, 'user');
		const call = await adminClient(invocation);
		const user_id = await userNamed(call, given, invocation.options.team);
		const { user } = await call<Answered>(method, { user_id });
		console.log(`${user.id} (${user.name}) ${done(invocation, user)}`);
		return 0;
	},
});

export const userDeactivateCommand = activationCommand(
	'admin.users.deactivate',
	'Deactivate a user: sign out everywhere, revoke all tokens, remove push devices. Messages stay.',
	() => 'is deactivated and signed out.',
);

export const userReactivateCommand = activationCommand(
	'admin.users.reactivate',
	'Reactivate a deactivated user, who needs a new invite link or token.',
	(invocation, user) =>
		`is active again.\nNext: ${nextCommand(invocation, `invite --user ${user.id} --team ${user.team_id}`)}   creates a link that signs them in.`,
);
