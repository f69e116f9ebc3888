import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ApiCall, apiClient } from './api-client.ts';

/** A small workspace to look around in: made through the server's own methods, as any product would. */

export interface DemoUser {
	readonly name: string;
	readonly id: string;
	readonly token: string;
}

const PEOPLE = [
	['ada', 'Ada Lovelace'],
	['grace', 'Grace Hopper'],
	['linus', 'Linus Torvalds'],
] as const;

/** Seeds on the first start, and tells the tokens again on later ones. */
export async function demoWorkspace(url: string, adminToken: string, dataDir: string): Promise<string> {
	const file = join(dataDir, 'demo.json');
	const kept = await readFile(file, 'utf8').catch(() => null);
	if (kept !== null) return showDemo(url, JSON.parse(kept));
	const users = await seedDemo(url, apiClient(url, adminToken));
	await writeFile(file, JSON.stringify(users, null, '\t'), { mode: 0o600 });
	return showDemo(url, users);
}

/** The token stands in the fragment of a link: browsers keep that to themselves. */
export function showDemo(url: string, users: readonly DemoUser[]): string {
	const [first, second] = users;
	const lines = users.flatMap(({ name, id, token }) => [
		`  ${name.padEnd(6)} ${id}  ${token}`,
		`         ${url}/#token=${token}`,
	]);
	return [
		'Demo workspace; per user its id, its token, and a link that opens it signed in:',
		...lines,
		...(first && second
			? [
					`Two devices of ${first.name} side by side, and ${second.name} to write to her:`,
					`         ${url}/devices#token=${first.token}&friend=${second.token}`,
				]
			: []),
	].join('\n');
}

export async function seedDemo(url: string, admin: ApiCall): Promise<DemoUser[]> {
	const { team } = await admin<{ team: { id: string } }>('admin.teams.create', {
		name: 'Demo',
		domain: 'demo',
	});
	const users: DemoUser[] = [];
	for (const [name, realName] of PEOPLE) {
		const { user } = await admin<{ user: { id: string } }>('admin.users.create', {
			team_id: team.id,
			name,
			real_name: realName,
		});
		const { token } = await admin<{ token: string }>('admin.tokens.create', { user_id: user.id });
		users.push({ name, id: user.id, token });
	}
	const [ada, grace, linus] = users.map((user) => ({ ...user, call: apiClient(url, user.token) }));
	if (!ada || !grace || !linus) throw new Error('the demo needs three people');
	const others = [grace.id, linus.id];

	const create = async (name: string) => {
		const { channel } = await ada.call<{ channel: { id: string } }>('conversations.create', { name });
		await ada.call('conversations.invite', { channel: channel.id, users: others });
		return channel.id;
	};
	const general = await create('general');
	const random = await create('random');
	const say = (who: typeof ada, channel: string, text: string) =>
		who.call<{ ts: string }>('chat.postMessage', { channel, text });
	await say(ada, general, 'Welcome to Tidemark. Every count you see here is exact.');
	const plan = await say(grace, general, `<@${ada.id}> shall we look at the release plan today?`);
	await grace.call('chat.postMessage', {
		channel: general,
		thread_ts: plan.ts,
		text: 'I have the draft here.',
	});
	await say(linus, random, '<!channel> lunch at noon?');
	const { channel: dm } = await linus.call<{ channel: { id: string } }>('conversations.open', {
		users: ada.id,
	});
	await say(linus, dm.id, 'Got a minute?');
	return users;
}
