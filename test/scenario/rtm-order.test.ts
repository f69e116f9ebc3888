import { afterAll, beforeAll, expect, test } from 'bun:test';
import { makeWorkspace, type Person } from '../support/people.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { connect, type Frame, type TestSocket } from '../support/socket.ts';

/**
 * Exact counts need events in order and without gaps: for every client, each ts is after the one before it, and each
 * prev_ts is the ts before it, however many users post at once and over which transport.
 */

const POSTERS = 50;
const POSTS = 12;
const CHANNELS = 2;

let server: TestServer;
let people: readonly Person[];
const channels: string[] = [];

beforeAll(async () => {
	server = await startServer();
	const workspace = await makeWorkspace(server.url, POSTERS + 2);
	people = workspace.people;
	const users = people.map(({ id }) => id);
	for (let index = 0; index < CHANNELS; index += 1) {
		const { channel } = await people[0]!.call('conversations.create', { name: `busy-${index}` });
		await workspace.admin('admin.conversations.addMembers', { channel: channel.id, users });
		channels.push(channel.id);
	}
});
afterAll(() => server.stop());

/** Posts alternately over HTTP and over the socket, and deletes one in four messages. */
async function post(person: Person, socket: TestSocket | null): Promise<string[]> {
	const acknowledged: string[] = [];
	for (let index = 0; index < POSTS; index += 1) {
		const channel = channels[index % CHANNELS]!;
		const text = `${person.name} ${index}`;
		const { ts } = socket
			? await socket.ask({ type: 'message', channel, text })
			: await person.call('chat.postMessage', { channel, text });
		acknowledged.push(`${channel} ${ts}`);
		if (index % 4 === 3) await person.call('chat.delete', { channel, ts });
	}
	return acknowledged;
}

const isPost = (frame: Frame): boolean => frame.type === 'message' && frame.subtype === undefined;

/** A client's timeline built from events; throws at the first gap. */
function follow(frames: readonly Frame[], channel: string): { readonly posts: string[] } {
	const timeline: string[] = [];
	const posts: string[] = [];
	for (const frame of frames.filter((one) => one.type === 'message' && one.channel === channel)) {
		if (frame.subtype === 'message_deleted') {
			expect(timeline).toContain(frame.deleted_ts);
			timeline.splice(timeline.indexOf(frame.deleted_ts), 1);
			continue;
		}
		const newest = posts.at(-1) ?? '';
		expect(frame.ts > newest).toBe(true);
		expect(frame.prev_ts).toBe(timeline.at(-1) ?? '0000000000.000000');
		timeline.push(frame.ts);
		posts.push(frame.ts);
	}
	return { posts };
}

test(`${POSTERS} users post at once: everybody receives everything once, in order, without a gap`, async () => {
	const [first, second, ...posters] = people as [Person, Person, ...Person[]];
	const listeners = await Promise.all([connect(first), connect(first), connect(second)]);
	const sockets = await Promise.all(posters.map((poster, index) => (index % 2 ? connect(poster) : null)));
	const acknowledged = (
		await Promise.all(posters.map((poster, index) => post(poster, sockets[index]!)))
	).flat();
	expect(acknowledged).toHaveLength(POSTERS * POSTS);
	for (const listener of listeners) {
		const received = await listener.all(acknowledged.length, isPost);
		expect(received.map(({ channel, ts }) => `${channel} ${ts}`).toSorted()).toEqual(acknowledged.toSorted());
		await listener.settled();
		expect(listener.having(isPost)).toHaveLength(acknowledged.length);
		const followed = channels.flatMap((channel) => follow(listener.frames, channel).posts);
		expect(followed).toHaveLength(acknowledged.length);
		const positions = listener.frames
			.filter(({ type }) => type === 'message')
			.map(({ position }) => position);
		expect(positions).toEqual(positions.toSorted());
	}
	for (const socket of [...listeners, ...sockets]) socket?.close();
});
