import type { ApiCall } from '../remote/api-client.ts';
import { ADMINISTRATOR_SETTINGS, adminClient, serverUrl, TEAM_FLAG, URL_FLAG } from './admin-client.ts';
import { type CliCommand, neededFlag } from './command.ts';
import { listed, type NamedUser, teamNamed, userNamed } from './find-by-name.ts';
import { nextCommand } from './next-steps.ts';

/** `tidemark invite`, `tidemark invite list` and `tidemark invite revoke`: links that each sign in one person. */

interface Invite {
	readonly id: string;
	readonly user_id?: string;
	readonly label: string;
	readonly created_by?: string;
	readonly expires_at: number;
	readonly date_used?: number;
	readonly date_revoked?: number;
	readonly is_active: boolean;
}

const time = (seconds: number): string =>
	`${new Date(seconds * 1000).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

export const inviteCommand: CliCommand = {
	summary: 'Create a link that invites one person to a workspace of a running server.',
	usage: '[--team NAME] [--user NAME] [--label TEXT] [--expires-in 604800] [--url http://localhost:8080]',
	details: [
		'The link works once. The person who opens it chooses a name and is signed in; with --user they are',
		'signed in as that user, for example on another device. Set --url to the address that people use.',
	],
	options: {
		team: TEAM_FLAG,
		user: { help: 'existing user whom the link signs in, by name or id', takesValue: true },
		label: { help: 'a note that `tidemark invite list` shows beside the link', takesValue: true },
		'expires-in': {
			help: 'seconds until the link expires; default 7 days, at most 90 days',
			takesValue: true,
		},
		url: URL_FLAG,
	},
	...ADMINISTRATOR_SETTINGS,
	run: async (invocation) => {
		const { team, user, label, 'expires-in': expires } = invocation.options;
		const call = await adminClient(invocation);
		const { id, name } = await teamNamed(call, team);
		const made = await call<{ url: string; invite: Invite }>('admin.invites.create', {
			team_id: id,
			...(user === undefined ? {} : { user_id: await userNamed(call, user, id) }),
			...(label === undefined ? {} : { label }),
			...(expires === undefined ? {} : { expires_in: expires }),
		});
		// Print --url before the fragment: the server builds its link from the Host header, without the path.
		console.log(`${serverUrl(invocation)}/${made.url.slice(made.url.indexOf('#'))}`);
		console.log(
			`Next: send this link to one person. It works once, until ${time(made.invite.expires_at)}, and signs them in to ${name}.`,
		);
		console.log(`To revoke the link: ${nextCommand(invocation, `invite revoke ${made.invite.id}`)}`);
		return 0;
	},
};

export const inviteListCommand: CliCommand = {
	summary: 'List the invite links of a workspace by id; the links themselves are not stored.',
	usage: '[--team NAME] [--url http://localhost:8080]',
	options: { team: TEAM_FLAG, url: URL_FLAG },
	...ADMINISTRATOR_SETTINGS,
	run: async (invocation) => {
		const call = await adminClient(invocation);
		const { id, name } = await teamNamed(call, invocation.options.team);
		const invites = await Array.fromAsync(
			listed<Invite>(call, 'admin.invites.list', 'invites', { team_id: id }),
		);
		const names = await namesIn(call, id, invites);
		for (const invite of invites)
			console.log([invite.id, statusOf(invite), ...remarksOn(invite, names)].join('  '));
		if (invites.length === 0) console.log(`${name} has no invite links.`);
		return 0;
	},
};

/** The names of the users in these invites, by id. Stops when it has found all of them. */
async function namesIn(
	call: ApiCall,
	team_id: string,
	invites: readonly Invite[],
): Promise<ReadonlyMap<string, string>> {
	const ids = invites.flatMap(({ user_id, created_by }) => [user_id, created_by]);
	const wanted = new Set(ids.filter((id) => id !== undefined));
	const names = new Map<string, string>();
	if (wanted.size === 0) return names;
	for await (const { id, name } of listed<NamedUser>(call, 'admin.users.list', 'users', { team_id })) {
		if (wanted.has(id)) names.set(id, name);
		if (names.size === wanted.size) break;
	}
	return names;
}

const remarksOn = ({ user_id, label, created_by }: Invite, names: ReadonlyMap<string, string>): string[] => [
	...(user_id === undefined ? [] : [`for ${names.get(user_id) ?? user_id}`]),
	...(label === '' ? [] : [`"${label}"`]),
	...(created_by === undefined ? [] : [`by ${names.get(created_by) ?? created_by}`]),
];

function statusOf({ is_active, expires_at, date_used, date_revoked }: Invite): string {
	if (is_active) return `open, expires ${time(expires_at)}`;
	if (date_used !== undefined) return `used ${time(date_used)}`;
	return date_revoked === undefined ? `expired ${time(expires_at)}` : `revoked ${time(date_revoked)}`;
}

export const inviteRevokeCommand: CliCommand = {
	summary: 'Revoke an invite link that was not used yet.',
	usage: 'ID [--url http://localhost:8080]',
	operand: 'id',
	options: { id: { help: 'id of the link, from `tidemark invite list`', takesValue: true }, url: URL_FLAG },
	...ADMINISTRATOR_SETTINGS,
	run: async (invocation) => {
		const invite_id = neededFlag(invocation, 'id');
		await (await adminClient(invocation))('admin.invites.revoke', { invite_id });
		console.log('revoked');
		return 0;
	},
};
