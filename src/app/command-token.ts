import { apiClient } from '../remote/api-client.ts';
import { savedAdminToken } from './admin-token.ts';
import { ADMINISTRATOR_SETTINGS, type CliCommand, type Invocation, MissingFlag } from './command.ts';
import { ConfigError } from './config.ts';
import { userNamed } from './named.ts';

/** `tidemark token`: creates a token for a user of a running server. */

export const URL_FLAG = { help: 'address of the server (http://localhost:<port>)', takesValue: true };
export const TEAM_FLAG = {
	help: 'workspace, by name or id; optional if there is only one',
	takesValue: true,
};

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

export function neededFlag({ options }: Pick<Invocation, 'options'>, flag: string): string {
	const value = options[flag];
	if (value === undefined) throw new MissingFlag(flag);
	return value;
}

/** Calls the server as its administrator, with the configured token or the one in the data directory. */
export async function adminClient({ config, options }: Invocation) {
	const token = config.adminToken ?? (await savedAdminToken(config.dataDir));
	if (token === null) {
		throw new ConfigError([
			'the administrator’s token is unknown: set TIDEMARK_ADMIN_TOKEN, or set --data-dir to the server’s directory',
		]);
	}
	return apiClient(serverUrl({ config, options }), token);
}

export function serverUrl({ config, options }: Invocation): string {
	const { url = `http://localhost:${config.port}` } = options;
	if (!/^https?:\/\/./.test(url) || !URL.canParse(url))
		throw new ConfigError([`--url "${url}" is not an address like http://host:port`]);
	return url.replace(/\/+$/, '');
}
