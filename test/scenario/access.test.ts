import { afterAll, beforeAll, test } from 'bun:test';
import { rawClient } from '../support/api.ts';
import { makeWorkspace, type Person, type Workspace } from '../support/people.ts';
import { makeRejectionScene } from '../support/rejection-scene.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { rejectionChecker, snapshotOf } from '../support/snapshot.ts';

/** Channels that the user is not in, and everything of another workspace: calls are rejected and change nothing. */

let server: TestServer;
let elsewhere: Workspace;
let ada: Person;
let grace: Person;
let linus: Person;
let stranger: Person;
let channel: string;
let secret: string;
let dm: string;
let message: string;

beforeAll(async () => {
	server = await startServer();
	({ ada, grace, linus, channel, secret, dm, message } = await makeRejectionScene(server.url));
	elsewhere = await makeWorkspace(server.url, 1, 'Elsewhere');
	stranger = elsewhere.people[0] as Person;
});
afterAll(() => server.stop());

const expectRejected = rejectionChecker(() => snapshotOf([ada, grace, linus], [channel, secret, dm]));

const as = (person: Person) => rawClient(server.url, person.token);

const methods: [string, () => Record<string, unknown>][] = [
	['chat.postMessage', () => ({ text: 'x' })],
	['chat.update', () => ({ ts: message, text: 'x' })],
	['chat.delete', () => ({ ts: message })],
	['conversations.mark', () => ({ ts: message })],
	['conversations.markUnread', () => ({ ts: message })],
	['conversations.mute', () => ({})],
	['conversations.unreads', () => ({})],
	['conversations.invite', () => ({ users: linus.id })],
	['conversations.kick', () => ({ user: ada.id })],
	['conversations.archive', () => ({})],
	['conversations.rename', () => ({ name: 'mine' })],
	['conversations.setTopic', () => ({ topic: 'mine' })],
];
const open: [string, () => Record<string, unknown>][] = [
	['conversations.history', () => ({})],
	['conversations.info', () => ({})],
	['conversations.members', () => ({})],
	['conversations.join', () => ({})],
	['conversations.leave', () => ({})],
];
for (const [method, args] of methods)
	test(`${method} of a public channel that the user is not in returns not_in_channel`, () =>
		expectRejected(() => as(linus)(method, { channel, ...args() }), 'not_in_channel'));
for (const [method, args] of [...methods, ...open]) {
	test(`${method} of a private channel or direct message that the user is not in returns channel_not_found`, async () => {
		for (const id of [secret, dm])
			await expectRejected(() => as(linus)(method, { channel: id, ...args() }), 'channel_not_found');
	});
	test(`${method} of a channel in another workspace returns channel_not_found`, () => {
		// The arguments name users of that workspace, so that the channel is what is rejected.
		const own = { ...args(), ...('users' in args() ? { users: stranger.id } : {}) };
		const withUser = 'user' in args() ? { user: stranger.id } : {};
		return expectRejected(() => as(stranger)(method, { channel, ...own, ...withUser }), 'channel_not_found');
	});
}

test('users of another workspace cannot be found', async () => {
	await expectRejected(() => as(ada)('users.info', { user: stranger.id }), 'user_not_found', 'user');
	await expectRejected(
		() => as(ada)('conversations.open', { users: stranger.id }),
		'user_not_found',
		'users',
	);
	await expectRejected(
		() => as(ada)('conversations.invite', { channel, users: stranger.id }),
		'user_not_found',
		'users',
	);
	await expectRejected(() => as(stranger)('conversations.kick', { channel, user: ada.id }), 'user_not_found');
});
