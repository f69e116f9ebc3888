import { ADMINISTRATOR_SETTINGS, adminClient, TEAM_FLAG, URL_FLAG } from './admin-client.ts';
import { type CliCommand, neededFlag } from './command.ts';
import { ConfigError } from './config.ts';
import { listed, userNamed } from './find-by-name.ts';

/** `tidemark token`, `tidemark token list` and `tidemark token revoke`: tokens of users of a running server. */

export const tokenCommand: CliCommand = {
	summary: 'Create a token for a user of a running server and print it.',
	usage:
		'NAME [--team NAME] [--expires-in 86400] [--shape plain|xoxp|xoxb|xoxc] [--url http://localhost:8080]',
	operand: 'user',
	options: {
		user: { help: 'user, by name or id', takesValue: true },
		team: TEAM_FLAG,
		'expires-in': { help: 'seconds until the token expires; default: never', takesValue: true },
		shape: { help: 'plain, or the Slack prefix that a tool requires', takesValue: true },
		url: URL_FLAG,
	},
	...ADMINISTRATOR_SETTINGS,
	run: async (invocation) => {
		const user = neededFlag(invocation, 'user');
		const { 'expires-in': expires, shape, team } = invocation.options;
		const call = await adminClient(invocation);
		const { token } = await call<{ token: string }>('admin.tokens.create', {
			user_id: await userNamed(call, user, team),
			...(expires === undefined ? {} : { expires_in: expires }),
			...(shape === undefined ? {} : { shape }),
		});
		console.log(token);
		return 0;
	},
};

interface ListedToken {
	readonly id: string;
	readonly date_created: number;
	readonly expires_at?: number;
	readonly date_revoked?: number;
	readonly is_active: boolean;
	readonly device?: string;
}

export const tokenListCommand: CliCommand = {
	summary: 'List the tokens of a user of a running server by id; the tokens themselves are not stored.',
	usage: 'NAME [--team NAME] [--url http://localhost:8080]',
	operand: 'user',
	options: { user: { help: 'user, by name or id', takesValue: true }, team: TEAM_FLAG, url: URL_FLAG },
	...ADMINISTRATOR_SETTINGS,
	run: async (invocation) => {
		const given = neededFlag(invocation, 'user');
		const call = await adminClient(invocation);
		const user_id = await userNamed(call, given, invocation.options.team);
		let count = 0;
		for await (const token of listed<ListedToken>(call, 'admin.tokens.list', 'tokens', { user_id })) {
			count += 1;
			console.log(lineOf(token));
		}
		if (count === 0) console.log(`${given} has no tokens.`);
		return 0;
	},
};

function lineOf({ id, date_created, expires_at, date_revoked, is_active, device }: ListedToken): string {
	const end =
		date_revoked !== undefined
			? `revoked ${timeOf(date_revoked)}`
			: expires_at === undefined
				? 'does not expire'
				: `${is_active ? 'expires' : 'expired'} ${timeOf(expires_at)}`;
	return `${id}  ${is_active ? 'active ' : 'ended  '}  created ${timeOf(date_created)}  ${end}${device ? `  ${device}` : ''}`;
}

const timeOf = (seconds: number): string =>
	`${new Date(seconds * 1000).toISOString().slice(0, 19).replace('T', ' ')} UTC`;

export const tokenRevokeCommand: CliCommand = {
	summary: 'Revoke a token of a running server, or all tokens and JWTs of a user.',
	usage: '--id … | --user NAME [--team NAME] [--url http://localhost:8080]',
	options: {
		id: { help: 'id of the token, from `tidemark token list`', takesValue: true },
		user: {
			help: 'revoke all tokens of this user, and JWTs issued until now; by name or id',
			takesValue: true,
		},
		team: TEAM_FLAG,
		url: URL_FLAG,
	},
	...ADMINISTRATOR_SETTINGS,
	run: async (invocation) => {
		const { id, user, team } = invocation.options;
		if ((id === undefined) === (user === undefined)) throw new ConfigError(['give either --id or --user']);
		const call = await adminClient(invocation);
		await call(
			'admin.tokens.revoke',
			user === undefined ? { token_id: id } : { user_id: await userNamed(call, user, team) },
		);
		console.log('revoked');
		return 0;
	},
};
