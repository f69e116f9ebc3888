import { apiClient } from '../remote/api-client.ts';
import { serverUrl } from './admin-client.ts';
import type { Invocation } from './command.ts';
import { shellWord } from './find-by-name.ts';
import { SETTINGS } from './settings.ts';

/** Works both in a clone and where the package is installed. */
const NPX = 'npx tidemark';

/** Flags that point a command to this server; empty for the default port and data directory. */
const whereFlags = (url: string, dataDir: string): string =>
	[
		url === `http://localhost:${SETTINGS.port.fallback}` ? '' : ` --url ${shellWord(url)}`,
		dataDir === SETTINGS.dataDir.fallback ? '' : ` --data-dir ${shellWord(dataDir)}`,
	].join('');

/** A command line for the same server as this invocation. */
export const nextCommand = (invocation: Invocation, command: string): string =>
	`${NPX} ${command}${whereFlags(serverUrl(invocation), invocation.config.dataDir)}`;

/** What to do after starting the server, printed by `tidemark serve`. */
export async function nextSteps(
	url: string,
	adminToken: string,
	dataDir: string,
	isDemo: boolean,
): Promise<string> {
	const { teams } = await apiClient(url, adminToken)<{ teams: readonly unknown[] }>('admin.teams.list', {
		limit: 2,
	});
	const where = whereFlags(url, dataDir);
	// With several workspaces, `invite` rejects a call that does not choose one.
	const invite = `${NPX} invite${teams.length > 1 ? ' --team NAME' : ''}${where}`;
	if (teams.length === 0)
		return [
			'Next: create a workspace and invite people,',
			`  in a browser      ${url}/admin, with the administrator's token`,
			`  or on a terminal  ${NPX} team add NAME${where}`,
			`                    ${invite}`,
		].join('\n');
	return isDemo
		? [
				`To invite people or create your own workspace: ${url}/admin, with the administrator's token,`,
				`  or on a terminal  ${invite}`,
				`                    ${NPX} team add NAME${where}`,
			].join('\n')
		: `Open ${url}; invite people at ${url}/admin or with: ${invite}`;
}
