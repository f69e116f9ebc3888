import { expect, test } from 'bun:test';
import { anonymous, authenticated, type Flood, noticedDuring, reconnects } from '../support/abuse/floods.ts';
import { makeWorkspace, type Person } from '../support/people.ts';
import { serveProcess, withDirectory } from '../support/process.ts';
import { ADMIN_TOKEN } from '../support/server.ts';

/** Floods against a server with its default limits: it stays within 512 MB, and another user keeps working. */

const MAX_MB = 512;
const FLOOD = { forMs: 2_500, atOnce: 40 };
/** `npm run fuzz` prints the figures. This limit only distinguishes a slow answer from none. */
const MAX_WAIT_MS = 15_000;
const TIMEOUT_MS = 120_000;

const floods: readonly [string, (mallory: Person, channel: string) => Flood][] = [
	['of anonymous requests', () => anonymous],
	['of requests by one user', authenticated],
	['of reconnects', reconnects],
];
for (const [what, flood] of floods)
	test(
		`a flood ${what}`,
		() =>
			withDirectory(async (directory) => {
				const server = await serveProcess(directory, ['--admin-token', ADMIN_TOKEN]);
				const { people } = await makeWorkspace(server.url, 2);
				const [ada, mallory] = people as [Person, Person];
				const create = async (person: Person, name: string): Promise<string> =>
					(await person.call('conversations.create', { name })).channel.id;
				const channel = await create(ada, 'general');
				const attack = flood(mallory, await create(mallory, 'flooded'));
				const post = ['chat.postMessage', { channel, text: 'still here' }] as const;
				const other = { token: ada.token, calls: [post] };
				const { requests, peakMb, waitsMs } = await noticedDuring(server.url, attack, { ...FLOOD, other });
				expect(requests).toBeGreaterThan(FLOOD.atOnce);
				expect(peakMb).toBeLessThan(MAX_MB);
				expect(waitsMs.at(-1)).toBeLessThan(MAX_WAIT_MS);
				expect((await ada.call('conversations.history', { channel, limit: 1_000 })).messages.length).toBe(
					Math.min(1_000, waitsMs.length),
				);
				expect((await server.end('SIGTERM')).code).toBe(0);
			}),
		TIMEOUT_MS,
	);
