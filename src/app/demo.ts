import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ApiCall, ApiError, apiClient } from '../remote/api-client.ts';
import { DEMO_PEOPLE, DEMO_TEAM, playDemo } from './demo-scene.ts';
import { writeSecret } from './private-files.ts';

/** The demo workspace, created through the public API only. */

export interface DemoUser {
	readonly name: string;
	readonly id: string;
	/** Null: the user is deactivated. */
	readonly token: string | null;
}

export interface SeededUser extends DemoUser {
	readonly token: string;
}

/** Creates the workspace on the first start; later starts print the saved tokens, and new ones for tokens that were revoked. */
export async function demoWorkspace(url: string, adminToken: string, dataDir: string): Promise<string> {
	const file = join(dataDir, 'demo.json');
	const admin = apiClient(url, adminToken);
	const saved = await readFile(file, 'utf8').catch(() => null);
	const users =
		saved === null
			? await seedDemo(url, admin)
			: await Promise.all(
					(JSON.parse(saved) as DemoUser[]).map(async (user) => ({
						...user,
						token: await currentToken(url, admin, user),
					})),
				);
	const text = JSON.stringify(users, null, '\t');
	if (text !== saved) await writeSecret(file, text);
	return showDemo(url, users);
}

async function currentToken(url: string, admin: ApiCall, { id, token }: DemoUser): Promise<string | null> {
	try {
		if (token !== null) {
			await apiClient(url, token)('auth.test', {});
			return token;
		}
	} catch (error) {
		if (!(error instanceof ApiError)) throw error;
	}
	try {
		return (await admin<{ token: string }>('admin.tokens.create', { user_id: id })).token;
	} catch (error) {
		if (error instanceof ApiError && error.code === 'user_disabled') return null;
		throw error;
	}
}

const NAME_WIDTH = Math.max(...DEMO_PEOPLE.map(([name]) => name.length));
const MARGIN = ' '.repeat(2 + NAME_WIDTH + 1);

/** The token is in the fragment of the link, which browsers do not send to servers. */
export function showDemo(url: string, users: readonly DemoUser[]): string {
	const [first, second] = users;
	const lines = users.flatMap(({ name, id, token }) => {
		const user = `  ${name.padEnd(NAME_WIDTH)} ${id}`;
		return token === null
			? [`${user}  deactivated`]
			: [`${user}  ${token}`, `${MARGIN}${url}/#token=${token}`];
	});
	return [
		'Demo workspace. For each user: id, token, and a link that signs in as that user:',
		...lines,
		...(first?.token && second?.token
			? [
					`Two devices of ${first.name} side by side, and ${second.name} to write to her:`,
					`${MARGIN}${url}/devices#token=${first.token}&friend=${second.token}`,
				]
			: []),
	].join('\n');
}

export async function seedDemo(url: string, admin: ApiCall): Promise<SeededUser[]> {
	const { team, general_channel } = await admin<{ team: { id: string }; general_channel: string }>(
		'admin.teams.create',
		{ name: DEMO_TEAM, domain: 'demo', general_channel: 'general' },
	);
	const users: SeededUser[] = [];
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
