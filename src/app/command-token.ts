import { keptAdminToken } from './admin-token.ts';
import { apiClient } from './api-client.ts';
import { ADMINISTRATOR_SETTINGS, type CliCommand, type Invocation } from './command.ts';
import { ConfigError } from './config.ts';

/** `tidemark token`: a token for a user, from a running server. */

export const tokenCommand: CliCommand = {
	summary: 'Make a token for a user of a running server and print it.',
	usage: '--user U… [--url http://localhost:8080]',
	options: {
		user: { help: 'id of the user', takesValue: true },
		url: { help: 'where the server is (http://localhost:<port>)', takesValue: true },
	},
	...ADMINISTRATOR_SETTINGS,
	run: async (invocation) => {
		const { user } = invocation.options;
		if (user === undefined) throw new ConfigError(['--user is missing']);
		const call = await adminClient(invocation);
		const { token } = await call<{ token: string }>('admin.tokens.create', { user_id: user });
		console.log(token);
		return 0;
	},
};

/** Speaks to the server as its administrator: the token configured, or the one in the data directory. */
export async function adminClient({ config, options }: Invocation) {
	const token = config.adminToken ?? (await keptAdminToken(config.dataDir));
	if (token === null) {
		throw new ConfigError([
			'the administrator’s token is not known: set TIDEMARK_ADMIN_TOKEN, or --data-dir to the server’s directory',
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
