import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { ErrorCode, type WebClient } from '@slack/web-api';
import { eventually } from '../support/eventually.ts';
import { makeWorkspace, type Person, type Workspace } from '../support/people.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { webClient } from '../support/slack.ts';

/** Slack's official WebClient against the server: only its address is changed. */

let server: TestServer;
let workspace: Workspace;
let ada: WebClient;
let grace: WebClient;
let names = 0;

const person = (index: number): Person => workspace.people[index]!;

beforeAll(async () => {
	server = await startServer();
	workspace = await makeWorkspace(server.url, 4);
	ada = webClient(server.url, person(0));
	grace = webClient(server.url, person(1));
});
afterAll(() => server.stop());

/** A channel of Ada's with these users as members too. */
async function channelWith(...others: readonly number[]): Promise<string> {
	names += 1;
	const { channel } = await ada.conversations.create({ name: `web-client-${names}` });
	const id = channel!.id!;
	if (others.length > 0)
		await ada.conversations.invite({ channel: id, users: others.map((index) => person(index).id).join(',') });
	return id;
}

async function say(client: WebClient, channel: string, text: string, extra = {}): Promise<string> {
	return (await client.chat.postMessage({ channel, text, ...extra })).ts!;
}

/** Every item of all pages, and the number of pages. */
async function allPages(client: WebClient, method: string, args: Record<string, unknown>, field: string) {
	// biome-ignore lint/suspicious/noExplicitAny: items of any method
	const items: any[] = [];
	let pages = 0;
	for await (const page of client.paginate(method, args)) {
		// biome-ignore lint/suspicious/noExplicitAny: pages of any method
		items.push(...(page as any)[field]);
		pages += 1;
	}
	return { items, pages };
}

describe('people and channels', () => {
	test('auth.test returns the owner of the token', async () => {
		const answer = await ada.auth.test();
		expect(answer).toMatchObject({ ok: true, user_id: person(0).id, team_id: workspace.team, team: 'Tests' });
		expect(answer.url).toBe(`${server.url}/`);
	});

	test('a channel is created, joined by invitation and listed with its members', async () => {
		const channel = await channelWith(1, 2);
		const { channel: info } = await grace.conversations.info({ channel, include_num_members: true });
		expect(info).toMatchObject({ id: channel, is_channel: true, is_member: true, num_members: 3 });
		const { members } = await ada.conversations.members({ channel });
		expect(members?.toSorted()).toEqual([person(0).id, person(1).id, person(2).id].toSorted());
	});

	test('a JavaScript array of users is accepted like a comma-separated list', async () => {
		const channel = await channelWith();
		const users = [person(1).id, person(2).id];
		await ada.apiCall('conversations.invite', { channel, users });
		const { members } = await ada.conversations.members({ channel });
		expect(members).toHaveLength(3);
	});

	test('lists can be paged to their end, with every channel once', async () => {
		const created = new Set([await channelWith(), await channelWith(), await channelWith()]);
		const { items, pages } = await allPages(ada, 'conversations.list', { limit: 2 }, 'channels');
		const ids = items.map(({ id }) => id);
		expect(pages).toBe(Math.ceil(ids.length / 2));
		expect(new Set(ids).size).toBe(ids.length);
		expect([...created].every((id) => ids.includes(id))).toBe(true);
	});

	test('both sides open the same direct message, and a list of users opens a group', async () => {
		const opened = await ada.conversations.open({ users: person(1).id, return_im: true });
		expect(opened.channel).toMatchObject({ is_im: true, user: person(1).id });
		const again = await grace.conversations.open({ users: person(0).id });
		expect(again).toMatchObject({ already_open: true, channel: { id: opened.channel?.id } });
		const group = await ada.conversations.open({ users: `${person(1).id},${person(2).id}`, return_im: true });
		expect(group.channel).toMatchObject({ is_mpim: true });
	});

	test('other members see archive, unarchive, rename, topic and purpose', async () => {
		const channel = await channelWith(1);
		await ada.conversations.setTopic({ channel, topic: 'tides' });
		await ada.conversations.setPurpose({ channel, purpose: 'to count' });
		await ada.conversations.rename({ channel, name: 'web-client-renamed' });
		await ada.conversations.archive({ channel });
		const { channel: info } = await grace.conversations.info({ channel });
		expect(info).toMatchObject({
			name: 'web-client-renamed',
			is_archived: true,
			topic: { value: 'tides' },
			purpose: { value: 'to count' },
		});
		await ada.conversations.unarchive({ channel });
		expect((await grace.conversations.info({ channel })).channel?.is_archived).toBe(false);
	});

	test('leaving and removing end membership', async () => {
		const channel = await channelWith(1, 2);
		await grace.conversations.leave({ channel });
		await ada.conversations.kick({ channel, user: person(2).id });
		expect((await ada.conversations.members({ channel })).members).toEqual([person(0).id]);
		expect(await grace.conversations.leave({ channel })).toMatchObject({ not_in_channel: true });
		expect((await grace.conversations.join({ channel })).warning).toBeUndefined();
		expect((await grace.conversations.join({ channel })).warning).toBe('already_in_channel');
	});
});

describe('messages', () => {
	test('text, blocks, attachments and metadata are returned as they were sent', async () => {
		const channel = await channelWith();
		const blocks = [{ type: 'section', text: { type: 'mrkdwn', text: '*bold* “quotes” & <angles>' } }];
		const attachments = [{ color: '#36a64f', text: 'attached 🌊' }];
		const metadata = { event_type: 'deploy', event_payload: { id: 7 } };
		const { ts } = await ada.chat.postMessage({ channel, text: 'fallback', blocks, attachments, metadata });
		const { messages } = await ada.conversations.history({ channel, include_all_metadata: true });
		expect(messages).toHaveLength(1);
		expect(messages?.[0]).toMatchObject({ ts: ts!, text: 'fallback', blocks, attachments, metadata });
	});

	test('an edit changes the text and is shown as edited, a delete removes the message', async () => {
		const channel = await channelWith(1);
		const ts = await say(ada, channel, 'before');
		const gone = await say(ada, channel, 'gone');
		expect(await ada.chat.update({ channel, ts, text: 'after' })).toMatchObject({ ts, text: 'after' });
		await ada.chat.delete({ channel, ts: gone });
		const { messages } = await grace.conversations.history({ channel });
		expect(messages?.map(({ text }) => text)).toEqual(['after']);
		expect(messages?.[0]?.edited?.user).toBe(person(0).id);
	});

	test('history pages from the newest message back, with every message once', async () => {
		const channel = await channelWith();
		const posted: string[] = [];
		for (let index = 0; index < 23; index += 1) posted.push(await say(ada, channel, `message ${index}`));
		const { items, pages } = await allPages(ada, 'conversations.history', { channel, limit: 5 }, 'messages');
		expect(pages).toBe(5);
		expect(items.map(({ ts }) => ts)).toEqual(posted.toReversed());
		const one = await ada.conversations.history({ channel, latest: posted[7]!, inclusive: true, limit: 1 });
		expect(one.messages?.map(({ ts }) => ts)).toEqual([posted[7]!]);
	});

	test('a thread pages from its root on; only a broadcast reply is in the channel', async () => {
		const channel = await channelWith(1);
		const root = await say(ada, channel, 'root');
		const replies: string[] = [];
		for (let index = 0; index < 6; index += 1)
			replies.push(await say(grace, channel, `reply ${index}`, { thread_ts: root }));
		replies.push(await say(grace, channel, 'to all', { thread_ts: root, reply_broadcast: true }));
		const { items } = await allPages(
			ada,
			'conversations.replies',
			{ channel, ts: root, limit: 3 },
			'messages',
		);
		expect(items.map(({ ts }) => ts)).toEqual([root, ...replies]);
		expect(items[0]).toMatchObject({ reply_count: 7, reply_users: [person(1).id], latest_reply: replies[6] });
		const { messages } = await ada.conversations.history({ channel });
		expect(messages?.map(({ ts }) => ts)).toEqual([replies[6]!, root]);
		expect(messages?.[0]).toMatchObject({ subtype: 'thread_broadcast', thread_ts: root });
	});

	test('a mark reads up to a message, and never moves back', async () => {
		const channel = await channelWith(1);
		const stamps = [
			await say(ada, channel, 'one'),
			await say(ada, channel, 'two'),
			await say(ada, channel, '3'),
		];
		const unread = async () => {
			const { channel: info } = await grace.conversations.info({ channel });
			return (info as { unread_count?: number }).unread_count;
		};
		expect(await unread()).toBe(3);
		await grace.conversations.mark({ channel, ts: stamps[1]! });
		expect(await unread()).toBe(1);
		await grace.conversations.mark({ channel, ts: stamps[0]! });
		expect(await unread()).toBe(1);
	});
});

describe('errors', () => {
	const rejections: [string, () => Promise<unknown>, string][] = [
		['an unknown channel', () => ada.conversations.info({ channel: 'C0000000000' }), 'channel_not_found'],
		['an unknown user', () => ada.users.info({ user: 'U0000000000' }), 'user_not_found'],
		['no text', async () => ada.chat.postMessage({ channel: await channelWith(), text: '' }), 'no_text'],
		[
			'somebody else’s message',
			async () => {
				const channel = await channelWith(1);
				return grace.chat.update({ channel, ts: await say(ada, channel, 'mine'), text: 'yours' });
			},
			'cant_update_message',
		],
		['a method that does not exist', () => ada.apiCall('chat.shout'), 'unknown_method'],
		['a missing argument', () => ada.apiCall('conversations.info'), 'missing_argument'],
	];
	for (const [what, call, code] of rejections) {
		test(`${what} is a platform error with the code ${code}`, async () => {
			const error = await call().then(
				() => null,
				(reason) => reason,
			);
			expect(error).toMatchObject({ code: ErrorCode.PlatformError, data: { ok: false, error: code } });
		});
	}

	test('an unknown token is a platform error, and the client does not retry', async () => {
		const stranger = webClient(server.url, { token: `xoxp-${'x'.repeat(43)}` });
		await expect(stranger.auth.test()).rejects.toMatchObject({ data: { error: 'invalid_auth' } });
	});
});

describe('reactions, pins, schedules, files and search', () => {
	test('reactions, pins and scheduled messages work', async () => {
		const channel = await channelWith(1);
		const timestamp = await say(ada, channel, 'look');
		await grace.reactions.add({ channel, timestamp, name: 'eyes' });
		const { message } = await ada.reactions.get({ channel, timestamp });
		expect(message?.reactions).toMatchObject([{ name: 'eyes', count: 1, users: [person(1).id] }]);
		const { items } = await grace.reactions.list({});
		expect(items?.[0]).toMatchObject({ channel, message: { ts: timestamp } });
		await grace.reactions.remove({ channel, timestamp, name: 'eyes' });
		await ada.pins.add({ channel, timestamp });
		expect((await grace.pins.list({ channel })).items).toMatchObject([{ message: { ts: timestamp } }]);
		await ada.pins.remove({ channel, timestamp });
		const post_at = Math.floor(Date.now() / 1000) + 3600;
		const { scheduled_message_id: id } = await ada.chat.scheduleMessage({ channel, text: 'later', post_at });
		const { scheduled_messages: listed } = await ada.chat.scheduledMessages.list({ channel });
		expect(listed).toMatchObject([{ id, post_at, text: 'later' }]);
		await ada.chat.deleteScheduledMessage({ channel, scheduled_message_id: id! });
	});

	test('files work', async () => {
		const channel = await channelWith(1);
		await ada.filesUploadV2({
			channel_id: channel,
			initial_comment: 'both',
			file_uploads: [
				{ file: Buffer.from('one'), filename: 'one.txt' },
				{ content: 'two', filename: 'two.txt', title: 'Second' },
			],
		});
		const { messages } = await grace.conversations.history({ channel, limit: 1 });
		expect(messages).toMatchObject([
			{
				text: 'both',
				files: [
					{ name: 'one.txt', size: 3 },
					{ name: 'two.txt', title: 'Second' },
				],
			},
		]);
		const file = messages?.[0]?.files?.[0]?.id ?? '';
		expect((await grace.files.info({ file })).file).toMatchObject({ id: file, channels: [channel] });
		expect((await grace.files.list({ channel })).files).toHaveLength(2);
		await ada.files.delete({ file });
	});

	test('search.messages works', async () => {
		const channel = await channelWith(1);
		const ts = await say(ada, channel, 'a marlinspike on deck');
		await eventually(async () => {
			const { messages } = await grace.search.messages({ query: 'marlinspike' });
			expect(messages?.matches).toMatchObject([{ ts, channel: { id: channel } }]);
			expect(messages?.paging).toMatchObject({ total: 1, page: 1 });
		}, 10_000);
	});
});
