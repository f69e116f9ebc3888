import { afterAll, beforeAll, expect, test } from 'bun:test';
import { makeWorkspace, type Person } from '../support/people.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { connect } from '../support/socket.ts';

/** chat.update: parts that are not given stay, whatever happens at the same time; threads stay visible. */

let server: TestServer;
let ada: Person;
let grace: Person;
let channel: string;

const blocks = [{ type: 'divider' }];
const attachments = [{ text: 'attached' }];

beforeAll(async () => {
	server = await startServer();
	const { people } = await makeWorkspace(server.url, 2);
	[ada, grace] = people as [Person, Person];
	channel = (await ada.call('conversations.create', { name: 'edits' })).channel.id;
	await ada.call('conversations.invite', { channel, users: grace.id });
});
afterAll(() => server.stop());

const post = async (person: Person, text: string, more = {}): Promise<string> =>
	(await person.call('chat.postMessage', { channel, text, ...more })).ts;

const stored = async (ts: string) =>
	(
		await ada.call('conversations.history', {
			channel,
			latest: ts,
			inclusive: true,
			limit: 1,
			include_all_metadata: true,
		})
	).messages[0];

test('concurrent edits lose nothing that was acknowledged', async () => {
	for (let round = 0; round < 20; round += 1) {
		const ts = await post(ada, 'first');
		const update = (args: object) => ada.call('chat.update', { channel, ts, ...args });
		await Promise.all([
			update({ text: 'a', blocks }),
			update({ text: 'b' }),
			update({ text: 'c', attachments }),
			update({ text: 'd', metadata: { event_type: 'e', event_payload: {} } }),
			update({ text: 'e' }),
		]);
		expect(await stored(ts)).toMatchObject({ blocks, attachments, metadata: { event_type: 'e' } });
	}
});

test('an empty part is removed; the rest must show something', async () => {
	const ts = await post(ada, 'text', { blocks, attachments });
	const update = (args: object) => ada.call('chat.update', { channel, ts, ...args });
	expect((await update({ text: 'less', blocks: [] })).message).toMatchObject({ text: 'less', attachments });
	expect((await stored(ts)).blocks).toBeUndefined();
	expect((await update({ text: '' })).message).toMatchObject({ text: '', attachments });
	await expect(update({ text: '', attachments: [] })).rejects.toThrow('no_text');
	const metadata = { event_type: 'e', event_payload: {} };
	await expect(update({ text: '', attachments: [], metadata })).rejects.toThrow('no_text');
});

test('the kept and the new parts are limited together', async () => {
	const large = (size: number) => [{ type: 'section', text: 'x'.repeat(size) }];
	const ts = await post(ada, 'text', { blocks: large(60_000) });
	const update = ada.call('chat.update', { channel, ts, text: 'more', attachments: large(60_000) });
	await expect(update).rejects.toThrow('msg_blocks_too_long');
});

test('an edited root keeps its thread, and an edited reply its root, in the answer and in the event', async () => {
	const socket = await connect(grace);
	const root = await post(ada, 'root');
	const alone = await post(ada, 'alone');
	const reply = await post(grace, 'reply', { thread_ts: root });
	const shown = await post(ada, 'shown', { thread_ts: root, reply_broadcast: true });
	const thread = {
		thread_ts: root,
		reply_count: 2,
		reply_users: [grace.id, ada.id],
		reply_users_count: 2,
		latest_reply: shown,
	};
	const edit = async (person: Person, ts: string) => {
		const answer = await person.call('chat.update', { channel, ts, text: 'edited' });
		const event = await socket.seen(
			(frame) => frame.subtype === 'message_changed' && frame.message.ts === ts,
		);
		expect(event.message).toEqual(answer.message);
		return event;
	};
	const edited = await edit(ada, root);
	expect(edited.message).toMatchObject({ text: 'edited', ...thread });
	expect(edited.previous_message).toMatchObject({ text: 'root', ...thread });
	expect((await edit(grace, reply)).message).toMatchObject({ thread_ts: root, parent_user_id: ada.id });
	expect((await edit(ada, shown)).message).toMatchObject({
		subtype: 'thread_broadcast',
		parent_user_id: ada.id,
		root: { ts: root, text: 'edited', ...thread },
	});
	const { message } = await edit(ada, alone);
	expect(message.reply_count).toBeUndefined();
	expect(message.thread_ts).toBeUndefined();
	socket.close();
});
