import { afterAll, beforeAll, expect, test } from 'bun:test';
import { makeWorkspace, type Person } from '../support/people.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { connect } from '../support/socket.ts';

/** A flood from one user gets 429 and a time to wait; other users are not affected. */

const PER_SECOND = 20;
const LIMITS = {
	'requests-per-second': String(PER_SECOND),
	'posts-per-second': String(PER_SECOND),
	'connects-per-second': '2',
};
/** Several times the burst of any of these limits. */
const FLOOD = PER_SECOND * 30;

let server: TestServer;
let quiet: Person;
let channel: string;
const flooders: Person[] = [];

beforeAll(async () => {
	server = await startServer(LIMITS);
	const { people, admin } = await makeWorkspace(server.url, 10);
	quiet = people[0] as Person;
	flooders.push(...people.slice(1));
	channel = (await quiet.call('conversations.create', { name: 'general' })).channel.id;
	const users = flooders.map(({ id }) => id);
	await admin('admin.conversations.addMembers', { channel, users });
});
afterAll(() => server.stop());

/** Each flood has its own user, with unused limits. */
const fresh = (): Person => {
	const person = flooders.pop();
	if (!person) throw new Error('no user is left');
	return person;
};

async function flood({ token }: Person, method: string, args: Record<string, string>) {
	const headers = { authorization: `Bearer ${token}` };
	const body = () => new URLSearchParams(args);
	return Promise.all(
		Array.from({ length: FLOOD }, () =>
			fetch(`${server.url}/api/${method}`, { method: 'POST', headers, body: body() }),
		),
	);
}

const floods: [string, string, () => Record<string, string>][] = [
	['requests', 'client.counts', () => ({})],
	['posts', 'chat.postMessage', () => ({ channel, text: 'spam' })],
	['marks', 'conversations.mark', () => ({ channel, ts: '1700000000.000000' })],
	['joins', 'conversations.join', () => ({ channel })],
	['reconnects', 'rtm.connect', () => ({})],
];
for (const [what, method, args] of floods) {
	test(`a flood of ${what} gets 429 and Retry-After, and other users are not affected`, async () => {
		const responses = await flood(fresh(), method, args());
		const limited = responses.filter(({ status }) => status === 429);
		expect(limited.length).toBeGreaterThan(0);
		expect(limited.length).toBeLessThan(FLOOD);
		expect(responses.every(({ status }) => status === 429 || status === 200)).toBe(true);
		for (const response of limited) {
			expect(response.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
			expect(await response.json()).toMatchObject({ ok: false, error: 'ratelimited' });
		}
		const { messages } = await quiet.call('conversations.history', { channel });
		expect(messages.length).toBeLessThan(FLOOD);
	});
}

test('each frame of a flood is answered with code 17 and a time to wait, and the socket stays open', async () => {
	const socket = await connect(fresh());
	const ids = Array.from({ length: FLOOD }, (_, index) => 1_000 + index);
	for (const id of ids) socket.sendText(JSON.stringify({ id, type: 'message', channel, text: 'spam' }));
	// An answer that does not name its frame would make Slack's client wait forever.
	const answers = await socket.all(FLOOD, ({ reply_to }) => reply_to >= 1_000);
	expect(answers.map(({ reply_to }) => reply_to).toSorted()).toEqual(ids);
	const rejected = answers.filter(({ ok }) => !ok);
	expect(rejected.length).toBeGreaterThan(0);
	expect(rejected.length).toBeLessThan(FLOOD);
	for (const { error } of rejected)
		expect(error).toEqual({ code: 17, msg: 'ratelimited', retry_after: expect.any(Number) });
	const others = await connect(quiet);
	const { ts } = await quiet.call('chat.postMessage', { channel, text: 'nobody else notices' });
	await others.seen({ ts });
	await socket.seen({ ts });
	others.close();
	socket.close();
});

test('a call for many rows counts as several calls', async () => {
	const allowed = async (limit: string): Promise<number> => {
		const answers = await flood(fresh(), 'conversations.history', { channel, limit });
		expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 429]));
		return answers.filter(({ status }) => status === 200).length;
	};
	const [few, many] = [await allowed('1000'), await allowed('10')];
	expect(few).toBeLessThan(many / 2);
});
