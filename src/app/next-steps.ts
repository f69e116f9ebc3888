import { apiClient } from '../remote/api-client.ts';

/** What somebody who has just started the server does next. */
export async function nextSteps(url: string, adminToken: string, isDemo: boolean): Promise<string> {
	const { teams } = await apiClient(url, adminToken)<{ teams: readonly unknown[] }>('admin.teams.list', {
		limit: 1,
	});
	// Commands find a server on the default port by themselves.
	const where = url.endsWith(':8080') ? '' : ` --url ${url}`;
	if (teams.length === 0)
		return [
			'Next: create a workspace and let people in,',
			`  in a browser      ${url}/admin, with the administrator's token`,
			`  or on a terminal  npx tidemark team add NAME${where}`,
			`                    npx tidemark invite${where}`,
		].join('\n');
	return isDemo
		? `To invite people, or to create a workspace of your own: ${url}/admin, with the administrator's token`
		: `Open ${url}; invite people at ${url}/admin or with: npx tidemark invite${where}`;
}
