import { apiClient } from '../remote/api-client.ts';
import { savedAdminToken } from './admin-token.ts';
import type { CliCommand, Invocation } from './command.ts';
import { ConfigError } from './config.ts';

/** Settings, flags and API client of the commands that call a running server as its administrator. */

export const ADMINISTRATOR_SETTINGS = {
	settings: ['port', 'dataDir', 'adminToken'],
	helpVariant: 'client',
} as const satisfies Partial<CliCommand>;

export const URL_FLAG = { help: 'address of the server (http://localhost:<port>)', takesValue: true };
export const TEAM_FLAG = {
	help: 'workspace, by name or id; optional if there is only one',
	takesValue: true,
};

/** Uses the configured token, or the one in the data directory. */
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
