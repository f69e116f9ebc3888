import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Answer, rawClient } from '../support/api.ts';
import type { Person } from '../support/people.ts';
import { makeRejectionScene } from '../support/rejection-scene.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { rejectionChecker, snapshotOf } from '../support/snapshot.ts';

/** Invalid input is rejected with its own code and the argument's name, and changes nothing. */

let server: TestServer;
let ada: Person;
let grace: Person;
let linus: Person;
let channel: string;
let secret: string;
let dm: string;
let message: string;
let reply: string;

beforeAll(async () => {
	server = await startServer();
	({ ada, grace, linus, channel, secret, dm, message } = await makeRejectionScene(server.url));
	reply = (await ada.call('chat.postMessage', { channel, text: 'reply', thread_ts: message })).ts;
});
afterAll(() => server.stop());

const expectRejected = rejectionChecker(() => snapshotOf([ada, grace, linus], [channel, secret, dm]));

const as = (person: Person) => rawClient(server.url, person.token);

describe('bodies', () => {
	async function send(body: string, contentType: string, method = 'chat.postMessage'): Promise<Answer> {
		const response = await fetch(`${server.url}/api/${method}`, {
			method: 'POST',
			headers: { authorization: `Bearer ${ada.token}`, 'content-type': contentType },
			body,
		});
		expect(response.status).toBe(200);
		return (await response.json()) as Answer;
	}

	const bodies: [string, string, string, string][] = [
		['JSON that breaks off', '{"channel":', 'application/json', 'invalid_json'],
		['JSON that is a list', '["a"]', 'application/json', 'json_not_object'],
		['JSON that is a text', '"a"', 'application/json', 'json_not_object'],
		['another charset', '{}', 'application/json; charset=utf-16', 'invalid_charset'],
		['XML', '<a/>', 'application/xml', 'invalid_post_type'],
		['a broken multipart form', '--x\r\nnonsense', 'multipart/form-data; boundary=x', 'invalid_form_data'],
		['more than a megabyte', `{"text":"${'x'.repeat(1_100_000)}"}`, 'application/json', 'request_too_large'],
	];
	for (const [what, body, contentType, code] of bodies)
		test(`${what} is rejected with ${code}`, () => expectRejected(() => send(body, contentType), code));

	test('PUT is not a valid HTTP method for a call', async () => {
		const response = await fetch(`${server.url}/api/auth.test?token=${ada.token}`, { method: 'PUT' });
		expect(await response.json()).toMatchObject({ ok: false, error: 'invalid_post_type' });
	});
});

describe('methods and arguments', () => {
	const calls: [string, string, () => Record<string, unknown>, string, string?][] = [
		['an unknown method', 'chat.shout', () => ({ channel }), 'unknown_method'],
		['a method of Object', 'constructor', () => ({}), 'unknown_method'],
		['no channel', 'chat.postMessage', () => ({ text: 'x' }), 'missing_argument', 'channel'],
		[
			'a name that no channel has',
			'chat.postMessage',
			() => ({ channel: '#no-such-channel', text: 'x' }),
			'channel_not_found',
			'channel',
		],
		[
			'a list for an id',
			'chat.postMessage',
			() => ({ channel: [channel], text: 'x' }),
			'channel_not_found',
			'channel',
		],
		['no text', 'chat.postMessage', () => ({ channel }), 'no_text', 'text'],
		['a text of spaces', 'chat.postMessage', () => ({ channel, text: ' \n\t' }), 'no_text', 'text'],
		[
			'a text that is an object',
			'chat.postMessage',
			() => ({ channel, text: {} }),
			'invalid_arguments',
			'text',
		],
		[
			'invalid blocks',
			'chat.postMessage',
			() => ({ channel, blocks: '{}' }),
			'invalid_blocks_format',
			'blocks',
		],
		[
			'blocks too deep',
			'chat.postMessage',
			() => ({ channel, blocks: `[${'{"a":'.repeat(60)}1${'}'.repeat(60)}]` }),
			'invalid_blocks_format',
			'blocks',
		],
		[
			'101 attachments',
			'chat.postMessage',
			() => ({ channel, attachments: Array.from({ length: 101 }, () => ({})) }),
			'too_many_attachments',
			'attachments',
		],
		[
			'attachments too large',
			'chat.postMessage',
			() => ({ channel, attachments: [{ text: 'x'.repeat(110_000) }] }),
			'msg_blocks_too_long',
		],
		[
			'an edit over 40,000',
			'chat.update',
			() => ({ channel, ts: message, text: 'x'.repeat(40_001) }),
			'msg_too_long',
			'text',
		],
		[
			'an edit to an empty text',
			'chat.update',
			() => ({ channel, ts: message, text: '' }),
			'no_text',
			'text',
		],
		[
			'an edit of no message',
			'chat.update',
			() => ({ channel, ts: '1.1', text: 'x' }),
			'message_not_found',
			'ts',
		],
		[
			'a delete of no message',
			'chat.delete',
			() => ({ channel, ts: '1700000000.000000' }),
			'message_not_found',
		],
		[
			'a reply to a missing message',
			'chat.postMessage',
			() => ({ channel, text: 'x', thread_ts: '1700000000.000000' }),
			'thread_not_found',
		],
		[
			'a reply to a reply',
			'chat.postMessage',
			() => ({ channel, text: 'x', thread_ts: reply }),
			'cannot_reply_to_message',
		],
		[
			'a mark with an invalid ts',
			'conversations.mark',
			() => ({ channel, ts: 'yesterday' }),
			'invalid_timestamp',
			'ts',
		],
		['a mark without ts', 'conversations.mark', () => ({ channel }), 'missing_argument', 'ts'],
		[
			'a negative revision',
			'conversations.mark',
			() => ({ channel, ts: message, revision: -1 }),
			'invalid_arguments',
			'revision',
		],
		[
			'a mark unread from a missing message',
			'conversations.markUnread',
			() => ({ channel, ts: '1700000000.000000' }),
			'message_not_found',
		],
		['unread from a reply', 'conversations.markUnread', () => ({ channel, ts: reply }), 'message_not_found'],
		[
			'reading a reply ahead',
			'conversations.markMessage',
			() => ({ channel, ts: reply }),
			'message_not_found',
		],
		['an invalid limit', 'conversations.history', () => ({ channel, limit: -1 }), 'invalid_limit', 'limit'],
		[
			'a made-up cursor',
			'conversations.history',
			() => ({ channel, cursor: 'next' }),
			'invalid_cursor',
			'cursor',
		],
		['a bad bound', 'conversations.history', () => ({ channel, oldest: 'x' }), 'invalid_ts_oldest', 'oldest'],
		['a bad type', 'conversations.list', () => ({ types: 'secret_channel' }), 'invalid_types', 'types'],
		[
			'a long name',
			'conversations.create',
			() => ({ name: 'x'.repeat(81) }),
			'invalid_name_maxlength',
			'name',
		],
		['a name with spaces', 'conversations.create', () => ({ name: 'a b' }), 'invalid_name_specials', 'name'],
		['a name that is taken', 'conversations.create', () => ({ name: 'general' }), 'name_taken', 'name'],
		['an empty invitation', 'conversations.invite', () => ({ channel, users: [] }), 'no_user', 'users'],
		[
			'an invitation of numbers',
			'conversations.invite',
			() => ({ channel, users: [1] }),
			'invalid_array_arg',
			'users',
		],
		[
			'an invitation with one unknown among known',
			'conversations.invite',
			() => ({ channel, users: [linus.id, 'U0000000000'] }),
			'user_not_found',
			'users',
		],
		['oneself invited', 'conversations.invite', () => ({ channel, users: ada.id }), 'cant_invite_self'],
		[
			'an invalid level',
			'conversations.setNotifications',
			() => ({ channel, level: 'loud' }),
			'invalid_arguments',
			'level',
		],
	];
	for (const [what, method, args, code, argument] of calls)
		test(`${what} is rejected with ${code}`, () =>
			expectRejected(() => as(ada)(method, args()), code, argument));

	test('a post of more than 40,000 characters is cut to 40,000, and the answer says so', async () => {
		const { channel: other } = await ada.call('conversations.create', { name: 'long' });
		const answer = await as(ada)('chat.postMessage', { channel: other.id, text: `${'🌊'.repeat(20_000)}!` });
		expect(answer).toMatchObject({ ok: true, warning: 'message_truncated' });
		const { messages } = await ada.call('conversations.history', { channel: other.id });
		expect(messages[0].text).toBe('🌊'.repeat(20_000));
	});
});
