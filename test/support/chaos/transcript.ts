import { eventually } from '../eventually.ts';
import { httpDriver } from '../http-driver.ts';
import type { Driver } from '../oracle/driver.ts';
import { randomHistory, USER_COUNT } from '../oracle/history.ts';
import { Oracle } from '../oracle/oracle.ts';
import { runHistory } from '../oracle/run.ts';
import { makeWorkspace, type Person, wireTs } from '../people.ts';
import { connect, type Frame, type TestSocket } from '../socket.ts';
import { Names } from './names.ts';

/** Everything that a history caused on one server, in terms that are the same on every server. */

export interface Transcript {
	/** By user: the answer of `client.counts`. */
	readonly counts: readonly string[];
	/** By conversation: texts and ts of its messages, oldest first. */
	readonly histories: readonly string[][];
	/** By user, conversation, type and thread: the events in order of arrival. Each kind arrives on its own path. */
	readonly events: Events;
	/** Events about cursors, in the same form. Apart, because in a cluster a new member gets an extra event about their own cursor. */
	readonly marks: Events;
}

export type Events = Readonly<Record<string, readonly string[]>>;

/**
 * Events about connections, events that repeat counts, and joins and leaves of other users, which a member who just
 * joined may not get (docs/resuming.md).
 */
const LEFT_OUT = new Set([
	'hello',
	'pong',
	'presence_change',
	'user_typing',
	'update_thread_state',
	'unread_counts_updated',
	'member_joined_channel',
	'member_left_channel',
]);
const MARK = /_marked$/;

const RECEIVED_WITHIN_MS = 60_000;

export interface Performed {
	/** The transcript so far: events may still be in flight. */
	transcript(): Promise<Transcript>;
	end(): void;
}

export async function performOn(url: string, seed: number, operations: number): Promise<Performed> {
	const workspace = await makeWorkspace(url, USER_COUNT, `Same ${seed}`);
	const { team, people } = workspace;
	const oracle = new Oracle();
	const sockets: TestSocket[] = [];
	// Everybody is connected all the time, so everybody is active.
	for (const person of people) {
		const socket = await connect(person);
		sockets.push(socket);
		const { position } = await person.call('client.counts');
		oracle.setActive(person.id, true, Number(position) + 1);
	}
	const conversations: string[] = [];
	const posted = new Map<string, string[]>();
	const socketOf = new Map(people.map(({ id }, index) => [id, sockets[index] as TestSocket]));
	const driver = remembering(httpDriver(workspace), conversations, posted);
	await runHistory(
		whenReceived(driver, socketOf, oracle),
		oracle,
		randomHistory(seed, operations, { presence: false }),
		{ users: people.map(({ id }) => id), check: 'end' },
	);
	const names = new Names({ team, users: people.map(({ id }) => id), conversations, posted });
	return {
		transcript: async () => ({
			counts: await Promise.all(people.map((person) => countsOf(person, names))),
			histories: await Promise.all(
				conversations.map((channel) => historyOf(people, oracle.members(channel), channel, names)),
			),
			events: eventsOf(sockets, names, (type) => !MARK.test(type)),
			marks: eventsOf(sockets, names, (type) => MARK.test(type)),
		}),
		end: () => {
			for (const socket of sockets) socket.close();
		},
	};
}

function remembering(driver: Driver, conversations: string[], posted: Map<string, string[]>): Driver {
	return {
		...driver,
		createConversation: async (...args) => {
			const made = await driver.createConversation(...args);
			conversations.push(made.id);
			posted.set(made.id, []);
			return made;
		},
		post: async (conversation, ...args) => {
			const ts = await driver.post(conversation, ...args);
			posted.get(conversation)?.push(wireTs(ts));
			return ts;
		},
	};
}

/**
 * Continues after a join only when the new member receives live events: otherwise the member would get the shorter form
 * for resuming clients. Lets a member leave only after all earlier events arrived, because the leave arrives on another
 * path and may overtake them.
 */
function whenReceived(driver: Driver, sockets: ReadonlyMap<string, TestSocket>, oracle: Oracle): Driver {
	const received = async (channel: string, users: readonly string[], members: readonly string[]) => {
		for (const user of users) {
			const other = members.find((member) => member !== user);
			const [socket, speaker] = [sockets.get(user), sockets.get(other ?? '')];
			if (!socket || !speaker) continue;
			const before = socket.having({ type: 'user_typing', channel }).length;
			await eventually(async () => {
				speaker.send({ type: 'typing', channel });
				await speaker.settled();
				await socket.settled();
				if (socket.having({ type: 'user_typing', channel }).length === before)
					throw new Error(`${user} receives no live events of ${channel}`);
			}, RECEIVED_WITHIN_MS);
		}
	};
	return {
		...driver,
		createConversation: async (kind, members, name) => {
			const made = await driver.createConversation(kind, members, name);
			await received(made.id, members, members);
			return made;
		},
		join: async (conversation, user, by) => {
			await driver.join(conversation, user, by);
			await received(conversation, [user], oracle.members(conversation));
		},
		leave: async (conversation, user) => {
			await received(conversation, [user], oracle.members(conversation));
			await driver.leave(conversation, user);
		},
		kick: async (conversation, user, by) => {
			await received(conversation, [user], oracle.members(conversation));
			await driver.kick(conversation, user, by);
		},
	};
}

async function countsOf({ call }: Person, names: Names): Promise<string> {
	const { channels, mpims, ims, threads, badge } = await call('client.counts');
	const rows = [...channels, ...mpims, ...ims].map((row: Frame) => names.normalise(row, row.id)).sort();
	// The version is built from clock readings, which differ between two servers.
	const { version: _, ...totals } = threads;
	return JSON.stringify({ rows, threads: totals, badge });
}

async function historyOf(
	people: readonly Person[],
	members: readonly string[],
	channel: string,
	names: Names,
): Promise<string[]> {
	const viewer = people.find(({ id }) => members.includes(id));
	if (!viewer) return [];
	const { messages } = await viewer.call('conversations.history', { channel, limit: 1000 });
	return messages.map((message: Frame) => names.normalise(message, channel)).reverse();
}

function eventsOf(sockets: readonly TestSocket[], names: Names, isWanted: (type: string) => boolean): Events {
	const events: Record<string, string[]> = {};
	for (const [index, { frames }] of sockets.entries()) {
		// A cluster may deliver an event twice.
		const once = new Map(frames.map((frame) => [JSON.stringify(frame), frame]));
		for (const frame of once.values()) {
			const type = String(frame.type);
			if (LEFT_OUT.has(type) || !isWanted(type)) continue;
			const channel = frame.subscription?.channel ?? frame.channel?.id ?? frame.channel ?? '';
			const key = `${index} ${names.of(channel)} ${type} ${names.normalise(frame.subscription?.thread_ts ?? '', channel)}`;
			events[key] = [...(events[key] ?? []), names.normalise(frame, channel)];
		}
	}
	return events;
}
