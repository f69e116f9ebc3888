import { afterAll, beforeAll, expect, test } from 'bun:test';
import { rawClient } from '../support/api.ts';
import { httpDriver } from '../support/http-driver.ts';
import { randomHistory, USER_COUNT } from '../support/oracle/history.ts';
import { Oracle } from '../support/oracle/oracle.ts';
import { runHistory } from '../support/oracle/run.ts';
import { makeWorkspace, type Person } from '../support/people.ts';
import { tidemark } from '../support/process.ts';
import { ADMIN_TOKEN, startServer, type TestServer } from '../support/server.ts';
import { changeDirectly } from '../support/store/direct-change.ts';

/** The administrator compares counts with the store. */

let server: TestServer;
beforeAll(async () => {
	server = await startServer();
});
afterAll(() => server.stop());

test('after a random history the served counts equal those of the store', async () => {
	const workspace = await makeWorkspace(server.url, USER_COUNT);
	const users = workspace.people.map(({ id }) => id);
	await runHistory(httpDriver(workspace), new Oracle(), randomHistory(7, 400), { users, check: 'end' });
	let checked = 0;
	for (const user of users) {
		const answer = await workspace.admin('admin.unreads.verify', { user });
		expect(answer.drifted).toEqual([]);
		checked += answer.checked;
	}
	expect(checked).toBeGreaterThan(users.length);
});

/** A channel in which one user has two unread messages. */
async function aChannel(name: string) {
	const { people, admin } = await makeWorkspace(server.url, 2, name);
	const [ada, grace] = people as [Person, Person];
	const { channel } = await ada.call('conversations.create', { name });
	await ada.call('conversations.invite', { channel: channel.id, users: grace.id });
	for (const text of ['one', 'two']) await ada.call('chat.postMessage', { channel: channel.id, text });
	expect((await admin('admin.unreads.verify', { user: grace.id })).drifted).toEqual([]);
	const unread = async () => (await grace.call('client.counts')).channels.find(isHere)?.unread_count;
	const isHere = ({ id }: { id: string }) => id === channel.id;
	return { channel: channel.id as string, ada, grace, admin, unread };
}

const lose = (channel: string, text: string) =>
	changeDirectly(server.dataDir, 'DELETE FROM messages WHERE conversation = ? AND text = ?', channel, text);

const counts = (unread_count: number) => ({ unread_count, mention_count: 0, badge_count: 0 });
const metrics = async () => (await fetch(`${server.url}/metrics`)).text();

test('a row changed in the database is reported, and repaired on request', async () => {
	const { channel, grace, admin, unread } = await aChannel('drift');
	lose(channel, 'one');
	const drift = { user: grace.id, channel, served: counts(2), stored: counts(1) };
	const report = await admin('admin.unreads.verify', { user: grace.id, channel });
	expect(report).toMatchObject({ checked: 1, drifted: [drift] });
	expect(report.repaired).toBeUndefined();
	expect(await unread()).toBe(2);
	expect(await metrics()).toContain('tidemark_drifted_counts_total 1');

	// For a channel, only its members are compared.
	const repaired = await admin('admin.unreads.verify', { channel, repair: true });
	expect(repaired).toMatchObject({ checked: 2, drifted: [{ ...drift, repaired: true }], repaired: 1 });
	expect(await unread()).toBe(1);
	expect(await metrics()).toMatch(
		/tidemark_drifted_counts_total 2\n[\s\S]*tidemark_repaired_counts_total 1\n/,
	);
	expect(await admin('admin.unreads.verify', { user: grace.id, repair: true })).toMatchObject({
		checked: 1,
		drifted: [],
		repaired: 0,
	});
});

test('an invalid verify request is rejected, and nothing is repaired', async () => {
	const { channel, grace, ada, admin, unread } = await aChannel('rejected');
	lose(channel, 'one');
	const wrong: [Record<string, unknown>, string][] = [
		[{ repair: true }, 'missing_argument'],
		[{ user: 'U00NOBODY', repair: true }, 'user_not_found'],
		[{ user: grace.id, channel: 'C00NOWHERE', repair: true }, 'channel_not_found'],
		[{ user: grace.id, repair: 'perhaps' }, 'invalid_arguments'],
		[{ user: grace.id, sample: -1, repair: true }, 'invalid_limit'],
	];
	const raw = rawClient(server.url, ADMIN_TOKEN);
	for (const [args, error] of wrong)
		expect(await raw('admin.unreads.verify', args)).toMatchObject({ ok: false, error });
	expect(
		await rawClient(server.url, ada.token)('admin.unreads.verify', { channel, repair: true }),
	).toMatchObject({ ok: false, error: 'not_allowed_token_type' });
	expect(await unread()).toBe(2);
	expect((await admin('admin.unreads.verify', { channel })).drifted).toHaveLength(1);
});

test('tidemark doctor reports counts, repairs them, and exits by whether all are right', async () => {
	const { channel, grace, unread } = await aChannel('doctor');
	lose(channel, 'two');
	const doctor = (...args: string[]) =>
		tidemark(['doctor', '--url', server.url, ...args], { TIDEMARK_ADMIN_TOKEN: ADMIN_TOKEN }).ended;
	const [found, nobody] = await Promise.all([
		doctor('--user', grace.id),
		doctor('--user', 'U00NOBODY', '--repair'),
	]);
	expect(nobody).toMatchObject({ code: 1, out: '', err: expect.stringContaining('user_not_found') });
	expect(found).toMatchObject({ code: 1, err: '' });
	expect(found.out.trimEnd().split('\n')).toEqual([
		'ok    counts          0 of 1 match the store',
		`bad   counts          ${grace.id} in ${channel}: 2 unread, 0 mentions, 0 in the badge served, ` +
			'1 unread, 0 mentions, 0 in the badge in the store. Run the command again with --repair',
	]);
	expect(await unread()).toBe(2);
	const repaired = await doctor('--channel', channel, '--repair', '--json');
	expect(repaired).toMatchObject({ code: 0, err: '' });
	expect(JSON.parse(repaired.out)).toMatchObject({
		ok: true,
		findings: [{ state: 'ok' }, { state: 'ok', found: expect.stringMatching(/; repaired$/) }],
	});
	expect(await unread()).toBe(1);
});

test('tidemark doctor finds a user by name; an unknown or ambiguous name is wrong usage', async () => {
	const { grace } = await aChannel('by-name');
	const doctor = (...args: string[]) =>
		tidemark(['doctor', '--url', server.url, ...args], { TIDEMARK_ADMIN_TOKEN: ADMIN_TOKEN }).ended;
	const [found, unknown, ambiguous, lone] = await Promise.all([
		doctor('--user', `@${grace.name}`, '--team', 'by-name'),
		doctor('--user', '@nobody', '--team', 'by-name'),
		// The other tests create workspaces with users of the same names.
		doctor('--user', grace.name),
		doctor('--channel', 'C00NOWHERE', '--team', 'by-name'),
	]);
	expect(found).toMatchObject({ code: 0, err: '', out: 'ok    counts          1 of 1 match the store\n' });
	expect(unknown).toMatchObject({
		code: 2,
		out: '',
		err: expect.stringContaining('there is no user "nobody" in by-name'),
	});
	expect(ambiguous).toMatchObject({
		code: 2,
		out: '',
		err: expect.stringContaining('there are several workspaces: choose one with --team'),
	});
	expect(lone).toMatchObject({ code: 2, out: '', err: expect.stringContaining('--team needs --user') });
});

test('tidemark doctor verifies every conversation of a user, in pages', async () => {
	const { channel: oldest, ada, grace, admin } = await aChannel('oldest');
	const MANY = 130;
	for (let made = 1; made < MANY; made += 1) {
		const { channel } = await ada.call('conversations.create', { name: `newer-${made}` });
		await ada.call('conversations.invite', { channel: channel.id, users: grace.id });
	}
	lose(oldest, 'one');
	const doctor = () =>
		tidemark(['doctor', '--url', server.url, '--user', grace.id], { TIDEMARK_ADMIN_TOKEN: ADMIN_TOKEN })
			.ended;
	const found = await doctor();
	expect(found.code).toBe(1);
	expect(found.out).toContain(`${MANY - 1} of ${MANY} match the store`);
	expect(found.out).toContain(`${grace.id} in ${oldest}: 2 unread`);
	const ids = new Set<string>();
	let cursor = '';
	do {
		const page = await admin('admin.unreads.verify', { user: grace.id, sample: 50, repair: true, cursor });
		expect(page.total).toBe(MANY);
		for (const { channel } of page.drifted) ids.add(channel);
		cursor = page.response_metadata.next_cursor;
	} while (cursor !== '');
	expect([...ids]).toEqual([oldest]);
	expect((await doctor()).out).toContain(`${MANY} of ${MANY} match the store`);
}, 60_000);
