import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ApiCall, apiClient } from '../remote/api-client.ts';
import { DEMO_PEOPLE, DEMO_TEAM, playDemo } from './demo-scene.ts';
import { keepSecret } from './private-files.ts';

/** The demo workspace, created through the public API only. */

export interface DemoUser {
	readonly name: string;
	readonly id: string;
	readonly token: string;
}

/** Creates the workspace on the first start; later starts print the saved tokens. */
export async function demoWorkspace(url: string, adminToken: string, dataDir: string): Promise<string> {
	const file = join(dataDir, 'demo.json');
	const kept = await readFile(file, 'utf8').catch(() => null);
	if (kept !== null) return showDemo(url, JSON.parse(kept));
	const users = await seedDemo(url, apiClient(url, adminToken));
	await keepSecret(file, JSON.stringify(users, null, '\t'));
	return showDemo(url, users);
}

const NAME_WIDTH = Math.max(...DEMO_PEOPLE.map(([name]) => name.length));
const MARGIN = ' '.repeat(2 + NAME_WIDTH + 1);

/** The token is in the fragment of the link, which browsers do not send to servers. */
export function showDemo(url: string, users: readonly DemoUser[]): string {
	const [first, second] = users;
	const lines = users.flatMap(({ name, id, token }) => [
		`  ${name.padEnd(NAME_WIDTH)} ${id}  ${token}`,
		`${MARGIN}${url}/#token=${token}`,
	]);
	return [
		'Demo workspace. For each user: id, token, and a link that signs in as that user:',
		...lines,
		...(first && second
			? [
					`Two devices of ${first.name} side by side, and ${second.name} to write to her:`,
					`${MARGIN}${url}/devices#token=${first.token}&friend=${second.token}`,
				]
			: []),
	].join('\n');
}

export async function seedDemo(url: string, admin: ApiCall): Promise<DemoUser[]> {
	const { team, general_channel } = await admin<{ team: { id: string }; general_channel: string }>(
		'admin.teams.create',
		{ name: DEMO_TEAM, domain: 'demo', general_channel: 'general' },
	);
	const users: DemoUser[] = [];
	for (const [name, realName] of DEMO_PEOPLE) {
		const { user } = await admin<{ user: { id: string } }>('admin.users.create', {
			team_id: team.id,
			name,
			real_name: realName,
		});
		const { token } = await admin<{ token: string }>('admin.tokens.create', { user_id: user.id });
		users.push({ name, id: user.id, token });
	}
	const people = users.map(({ id, name, token }) => ({ id, name, call: apiClient(url, token) }));
	await playDemo(people, general_channel);
	return users;
}
