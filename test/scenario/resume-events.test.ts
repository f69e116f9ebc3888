import { afterAll, beforeAll, expect, test } from 'bun:test';
import { rawClient } from '../support/api.ts';
import { makeWorkspace, type Person, type Workspace } from '../support/people.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { connect, type Frame } from '../support/socket.ts';

/** The events of each kind of change for a client that was disconnected, over HTTP and over the socket. */

let server: TestServer;
beforeAll(async () => {
	server = await startServer();
});
afterAll(() => server.stop());

let names = 0;

class Scene {
	private constructor(
		readonly workspace: Workspace,
		readonly ada: Person,
		readonly grace: Person,
		readonly channel: string,
		public since: string,
	) {}

	/** Two users in a channel, one of whom is about to disconnect. */
	static async open(): Promise<Scene> {
		const workspace = await makeWorkspace(server.url, 3);
		const [ada, grace] = workspace.people as [Person, Person];
		names += 1;
		const { channel } = await ada.call('conversations.create', { name: `scene-${names}` });
		await ada.call('conversations.invite', { channel: channel.id, users: grace.id });
		const scene = new Scene(workspace, ada, grace, channel.id, '');
		await scene.leave();
		return scene;
	}

	/** Grace has seen everything up to here. */
	async leave(): Promise<void> {
		this.since = (await this.grace.call('client.counts')).position;
	}

	async post(text: string, more: object = {}): Promise<string> {
		return (await this.ada.call('chat.postMessage', { channel: this.channel, text, ...more })).ts;
	}

	edit = (ts: string, text: string) => this.ada.call('chat.update', { channel: this.channel, ts, text });
	remove = (ts: string) => this.ada.call('chat.delete', { channel: this.channel, ts });

	/** The events that Grace missed, over HTTP; checks that the socket gives the same. */
	async missed(): Promise<Frame[]> {
		const { events, position } = await this.grace.call('client.sync', { since: this.since });
		const socket = await connect(this.grace, { since: this.since });
		await socket.all(1 + events.length, () => true);
		const [hello, ...frames] = socket.frames;
		socket.close();
		expect(frames.slice(0, events.length)).toEqual(events);
		expect(hello).toMatchObject({ type: 'hello', missed: events.length });
		if (events.length > 0) expect(hello?.position).toBe(this.since);
		expect(position >= this.since).toBe(true);
		expect((await this.grace.call('client.sync', { since: position })).events).toEqual([]);
		return events;
	}
}

const kinds = (events: readonly Frame[]): string[] =>
	events.map(({ type, subtype }) => (subtype === undefined ? String(type) : subtype));

test('a client that missed nothing gets nothing', async () => {
	const scene = await Scene.open();
	expect(await scene.missed()).toEqual([]);
});

test('missed messages arrive in order, each after its predecessor, with the same fields as live ones', async () => {
	const scene = await Scene.open();
	const known = await scene.post('known');
	await scene.leave();
	const live = await connect(scene.grace);
	const [one, two] = [await scene.post('one'), await scene.post(`two <@${scene.grace.id}>`)];
	const liveEvents = await live.all(2, { type: 'message' });
	live.close();
	const events = await scene.missed();
	expect(events).toEqual(liveEvents);
	expect(events.map(({ ts, prev_ts }) => [ts, prev_ts])).toEqual([
		[one, known],
		[two, one],
	]);
	expect(events.map(({ ts, position }) => [ts.replace('.', ''), position])).toEqual(
		events.map(({ ts }) => [ts.replace('.', ''), ts.replace('.', '')]),
	);
});

test('a posted and edited message arrives once, in its current state', async () => {
	const scene = await Scene.open();
	const ts = await scene.post('first');
	await scene.edit(ts, 'second');
	const events = await scene.missed();
	expect(events).toHaveLength(1);
	expect(events[0]).toMatchObject({ type: 'message', ts, text: 'second', edited: { user: scene.ada.id } });
});

test('of a posted and deleted message only the deletion arrives; later messages connect to earlier ones', async () => {
	const scene = await Scene.open();
	const known = await scene.post('known');
	await scene.leave();
	const gone = await scene.post('gone');
	await scene.remove(gone);
	await scene.post('here');
	const events = await scene.missed();
	expect(kinds(events)).toEqual(['message_deleted', 'message']);
	expect(events[0]).toMatchObject({ deleted_ts: gone });
	expect(events[1]).toMatchObject({ text: 'here', prev_ts: known });
});

test('edits and deletes of known messages arrive; edited and then deleted means deleted', async () => {
	const scene = await Scene.open();
	const [kept, gone, both] = [await scene.post('a'), await scene.post('b'), await scene.post('c')];
	await scene.leave();
	await scene.edit(both, 'cc');
	await scene.edit(kept, 'aa');
	await scene.remove(gone);
	await scene.remove(both);
	const events = await scene.missed();
	expect(kinds(events)).toEqual(['message_changed', 'message_deleted', 'message_deleted']);
	expect(events[0]?.message).toMatchObject({ ts: kept, text: 'aa' });
	expect(events.slice(1).map(({ deleted_ts }) => deleted_ts)).toEqual([gone, both]);
});

test('the prev_ts of a message before a delete is the message that still existed then', async () => {
	const scene = await Scene.open();
	const [first, last] = [await scene.post('first'), await scene.post('last')];
	await scene.leave();
	await scene.post('next');
	await scene.remove(last);
	await scene.post('after');
	const events = await scene.missed();
	expect(kinds(events)).toEqual(['message', 'message_deleted', 'message']);
	expect([events[0]?.prev_ts, events[2]?.prev_ts]).toEqual([last, events[0]?.ts]);
	expect(first < last).toBe(true);
});

test('replies arrive with their thread, which is sent once', async () => {
	const scene = await Scene.open();
	const root = await scene.post('root');
	await scene.leave();
	await scene.post('one', { thread_ts: root });
	await scene.post('two', { thread_ts: root, reply_broadcast: true });
	const events = await scene.missed();
	expect(kinds(events)).toEqual(['message', 'thread_broadcast', 'message_replied']);
	expect(events[0]).toMatchObject({ thread_ts: root, parent_user_id: scene.ada.id });
	expect(events[0]?.prev_ts).toBeUndefined();
	expect(events[1]).toMatchObject({ prev_ts: root, root: { ts: root, reply_count: 2 } });
	expect(events[2]?.message).toMatchObject({ ts: root, reply_count: 2, latest_reply: events[1]?.ts });
});

test('a root that was deleted with replies leaves a tombstone', async () => {
	const scene = await Scene.open();
	const known = await scene.post('known root');
	await scene.leave();
	const fresh = await scene.post('fresh root');
	for (const thread_ts of [known, fresh]) await scene.post('reply', { thread_ts });
	for (const root of [known, fresh]) await scene.remove(root);
	const events = await scene.missed();
	expect(kinds(events)).toEqual([
		'message',
		'message_replied',
		'message',
		'message_replied',
		'message_deleted',
		'message_deleted',
	]);
	expect(events[1]?.message).toMatchObject({ ts: known, subtype: 'tombstone', reply_count: 1 });
	expect(events[3]?.message).toMatchObject({ ts: fresh, subtype: 'tombstone', reply_count: 1 });
	expect(events[4]).toMatchObject({ deleted_ts: known, tombstone: true });
	expect(events[5]).toMatchObject({ deleted_ts: fresh, tombstone: true });
});

test('the event of a deleted reply has its thread without the reply', async () => {
	const scene = await Scene.open();
	const root = await scene.post('root');
	const reply = await scene.post('reply', { thread_ts: root });
	await scene.leave();
	await scene.remove(reply);
	const events = await scene.missed();
	expect(kinds(events)).toEqual(['message_deleted', 'message_replied']);
	expect(events[1]?.message.reply_count).toBeUndefined();
});

test('marks arrive last, with the current counts', async () => {
	const scene = await Scene.open();
	const [first] = [await scene.post('one'), await scene.post('two')];
	await scene.leave();
	await scene.grace.call('conversations.mark', { channel: scene.channel, ts: first });
	await scene.post('three');
	const events = await scene.missed();
	expect(kinds(events)).toEqual(['message', 'channel_marked']);
	const counts = await scene.grace.call('client.counts');
	const [row] = counts.channels.filter(({ id }: Frame) => id === scene.channel);
	const { id: _, ...fields } = row;
	expect(events[1]).toMatchObject({ ...fields, unread_count: 2, ts: first });
});

test('muting arrives as a preference, marks as marks', async () => {
	const scene = await Scene.open();
	await scene.post('one');
	await scene.leave();
	await scene.grace.call('conversations.mute', { channel: scene.channel });
	const events = await scene.missed();
	expect(kinds(events)).toEqual(['conversation_preference_changed']);
	expect(events[0]).toMatchObject({ channel: scene.channel, is_muted: true, unread_count: 1 });
	await scene.leave();
	await scene.grace.call('client.markAllRead');
	expect(kinds(await scene.missed())).toEqual(['channel_marked']);
});

test('following, reading and unfollowing a thread arrive', async () => {
	const scene = await Scene.open();
	const { channel, grace } = scene;
	const thread_ts = await scene.post('root');
	const ts = await scene.post('reply', { thread_ts });
	await scene.leave();
	await grace.call('subscriptions.thread.add', { channel, thread_ts, last_read: thread_ts });
	expect((await scene.missed()).map(({ type, subscription }) => [type, subscription.last_read])).toEqual([
		['thread_subscribed', thread_ts],
	]);
	await scene.leave();
	await grace.call('subscriptions.thread.mark', { channel, thread_ts, ts });
	expect((await scene.missed()).map(({ type, subscription }) => [type, subscription.last_read])).toEqual([
		['thread_marked', ts],
	]);
	await scene.leave();
	await grace.call('subscriptions.thread.remove', { channel, thread_ts });
	expect(kinds(await scene.missed())).toEqual(['thread_unsubscribed']);
});

test('a joined conversation arrives with its messages since the join, and its counts', async () => {
	const scene = await Scene.open();
	const { ada, grace } = scene;
	const { channel } = await ada.call('conversations.create', { name: `late-${names}` });
	const early = await ada.call('chat.postMessage', { channel: channel.id, text: 'before' });
	await ada.call('conversations.invite', { channel: channel.id, users: grace.id });
	await ada.call('chat.postMessage', { channel: channel.id, text: 'after' });
	await ada.call('chat.update', { channel: channel.id, ts: early.ts, text: 'before, edited' });
	const events = await scene.missed();
	expect(kinds(events)).toEqual(['channel_joined', 'message', 'message_changed', 'channel_marked']);
	expect(events[0]?.channel).toMatchObject({
		id: channel.id,
		last_read: early.ts,
		latest_ts: early.ts,
		unread_count: 0,
	});
	expect(events[1]).toMatchObject({ text: 'after', prev_ts: early.ts });
	expect(events[3]).toMatchObject({ unread_count: 1, last_read: early.ts, revision: 0 });
});

test('a left conversation is removed; rejoining starts over', async () => {
	const scene = await Scene.open();
	const { channel, grace } = scene;
	await scene.post('one');
	await grace.call('conversations.leave', { channel });
	await scene.post('two');
	expect(kinds(await scene.missed())).toEqual(['channel_left']);
	await grace.call('conversations.join', { channel });
	const ts = await scene.post('three');
	const events = await scene.missed();
	expect(kinds(events)).toEqual(['channel_joined', 'message', 'channel_marked']);
	expect(events[1]).toMatchObject({ ts, text: 'three' });
	expect(events[2]).toMatchObject({ unread_count: 1, revision: 1 });
});

test('direct messages that others opened arrive', async () => {
	const scene = await Scene.open();
	const [ada, grace, third] = scene.workspace.people as [Person, Person, Person];
	await ada.call('conversations.open', { users: grace.id });
	await ada.call('conversations.open', { users: [grace.id, third.id] });
	expect(kinds(await scene.missed()).slice(0, 2)).toEqual(['im_created', 'mpim_joined']);
});

test('name, topic, purpose and archived state arrive once each, in their current state', async () => {
	const scene = await Scene.open();
	const { channel, ada } = scene;
	await ada.call('conversations.setTopic', { channel, topic: 'first' });
	await ada.call('conversations.setTopic', { channel, topic: 'second' });
	await ada.call('conversations.setPurpose', { channel, purpose: 'why' });
	await ada.call('conversations.rename', { channel, name: `renamed-${names}` });
	const events = await scene.missed();
	expect(kinds(events)).toEqual(['channel_topic', 'channel_purpose', 'channel_rename']);
	expect(events[0]).toMatchObject({ channel, topic: 'second', user: ada.id });
	await scene.leave();
	await ada.call('conversations.archive', { channel });
	expect(kinds(await scene.missed())).toEqual(['channel_archive']);
	await ada.call('conversations.unarchive', { channel });
	expect(kinds(await scene.missed())).toEqual(['channel_unarchive']);
});

test('a position of another workspace reveals nothing about it', async () => {
	const [mine, theirs] = [await Scene.open(), await Scene.open()];
	const { since } = theirs;
	await theirs.post('theirs');
	const ts = await mine.post('mine');
	mine.since = since;
	const events = await mine.missed();
	expect(events.map((event) => event.ts)).toEqual([ts]);
});

test('a client can resume from a row’s position', async () => {
	const scene = await Scene.open();
	await scene.post('one');
	const { channels } = await scene.grace.call('client.counts');
	scene.since = channels[0].position.slice(0, 16);
	const ts = await scene.post('two');
	const { events } = await scene.grace.call('client.sync', { since: channels[0].position });
	expect(events.map((event: Frame) => event.ts)).toEqual([ts]);
});

test('a position from the future forces a resync; a malformed one is rejected', async () => {
	const scene = await Scene.open();
	const future = '9'.repeat(16);
	const answer = await scene.grace.call('client.sync', { since: future });
	expect(answer).toMatchObject({ ok: true, history_invalid: true });
	expect(answer.events).toBeUndefined();
	expect(answer.position >= scene.since && answer.position < future).toBe(true);
	const socket = await connect(scene.grace, { since: future });
	await socket.seen({ type: 'resync' });
	expect(kinds(socket.frames)).toEqual(['hello', 'resync']);
	const ts = await scene.post('live');
	await socket.seen({ ts });
	socket.close();
	const raw = rawClient(server.url, scene.grace.token);
	for (const since of ['', 'x', '1', '1'.repeat(17), `-${'1'.repeat(15)}`, '1'.repeat(33)])
		for (const method of since === '' ? ['client.sync'] : ['client.sync', 'rtm.connect'])
			expect([since, (await raw(method, { since })).error]).toEqual([
				since,
				since === '' ? 'missing_argument' : 'invalid_position',
			]);
});
