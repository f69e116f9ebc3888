import { type Call, CallFailed, client } from './api.ts';
import { Random } from './oracle/random.ts';
import { makeWorkspace, type Person } from './people.ts';

/**
 * Load on a server that may die at any moment, and a record of what it acknowledged. Each actor does one thing after the
 * other, so at most one change per actor has an unknown outcome when the server dies.
 */

export interface Sent {
	readonly user: string;
	readonly channel: string;
	readonly id: string;
	/** Undefined: never acknowledged. */
	ts: string | undefined;
	/** Null: deleted. */
	text: string | null;
	/** The requested change that was not acknowledged: it may have happened or not. */
	unconfirmed?: { readonly text: string | null };
}

export interface ReadPosition {
	last_read: string;
	revision: number;
	position: string;
	is_muted: boolean;
	/** Parts with a change that was not acknowledged. An acknowledged change of the other part does not confirm them. */
	readonly unconfirmed: Set<'cursor' | 'preference'>;
}

export interface Book {
	readonly sent: Map<string, Sent>;
	/** By user and channel. */
	readonly reads: Map<string, ReadPosition>;
	/** By user and channel: true for a member; undefined if the outcome is unknown. */
	readonly members: Map<string, boolean | undefined>;
	/** By user and channel: messages that were marked one by one; false if the outcome is unknown. */
	readonly picked: Map<string, Map<string, boolean>>;
	acknowledged: number;
}

export const newBook = (): Book => ({
	sent: new Map(),
	reads: new Map(),
	members: new Map(),
	picked: new Map(),
	acknowledged: 0,
});
export const keyOf = (user: string, channel: string): string => `${user} ${channel}`;

export interface Cast {
	/** They post, edit, delete and mark. */
	readonly writers: readonly Person[];
	/** They mark, mark unread and mute: nothing else moves their cursors. */
	readonly readers: readonly Person[];
	/** They only mark single messages: no other mark can hide a lost one. */
	readonly pickers: readonly Person[];
	/** They join and leave. */
	readonly movers: readonly Person[];
	/** The channels of writers, readers and pickers. */
	readonly channels: readonly string[];
	/** The channels that movers join and leave. */
	readonly halls: readonly string[];
}

/** The users and channels of a load, with their initial cursors in the record. */
export async function makeCast(url: string, book: Book): Promise<Cast> {
	const { people } = await makeWorkspace(url, 9);
	const creator = people[0]!;
	const create = async (name: string): Promise<string> =>
		(await creator.call('conversations.create', { name })).channel.id;
	const cast: Cast = {
		writers: people.slice(0, 4),
		readers: people.slice(4, 6),
		pickers: people.slice(6, 7),
		movers: people.slice(7),
		channels: [await create('one'), await create('two'), await create('three')],
		halls: [await create('hall'), await create('stairs')],
	};
	const users = [...cast.writers.slice(1), ...cast.readers, ...cast.pickers].map(({ id }) => id);
	for (const channel of cast.channels) await creator.call('conversations.invite', { channel, users });
	for (const reader of cast.readers)
		for (const { id, last_read, revision, position } of (await reader.call('client.counts')).channels)
			book.reads.set(keyOf(reader.id, id), {
				last_read,
				revision,
				position,
				is_muted: false,
				unconfirmed: new Set(),
			});
	return cast;
}

/** Runs until the server has died. */
export async function load(
	url: string,
	cast: Cast,
	book: Book,
	round: number,
	onAck: () => void,
): Promise<void> {
	const callOf = ({ token }: Person) => client(url, token);
	await Promise.all(
		actors({ cast, book, round, callOf, onAck }).map(({ step, seed }) => untilGone(step, seed)),
	);
}

export interface Play {
	readonly cast: Cast;
	readonly book: Book;
	readonly round: number;
	readonly callOf: (person: Person) => Call;
	readonly onAck: () => void;
}

export interface ActorOfLoad {
	readonly seed: number;
	/** Does one thing and records it; `count` makes it unique within this round. */
	readonly step: (random: Random, count: number) => Promise<void>;
}

export function actors({ cast, book, round, callOf, onAck }: Play): ActorOfLoad[] {
	const playing = (people: readonly Person[], step: Step): ActorOfLoad[] =>
		people.map((person, index) => ({
			seed: round * 100 + index,
			step: async (random, count) => {
				await step({ person, call: callOf(person), random, book, cast, name: `${round}-${count}` });
				book.acknowledged += 1;
				onAck();
			},
		}));
	return [
		...playing(cast.writers, write),
		...playing(cast.readers, read),
		...playing(cast.pickers, pick),
		...playing(cast.movers, move),
	];
}

async function untilGone(
	step: (random: Random, count: number) => Promise<void>,
	seed: number,
): Promise<void> {
	const random = new Random(seed);
	for (let count = 0; ; count += 1) {
		try {
			await step(random, count);
		} catch (error) {
			// The server has answered with an error: it did not die, and the request was wrong.
			if (error instanceof CallFailed) throw error;
			return;
		}
	}
}

interface Scene {
	readonly person: Person;
	readonly call: Call;
	readonly random: Random;
	readonly book: Book;
	readonly cast: Cast;
	/** Unique over all rounds. */
	readonly name: string;
}

type Step = (scene: Scene) => Promise<void>;

const write: Step = async ({ person, call, random, book, cast, name }) => {
	const own = [...book.sent.values()].filter(
		({ user, ts, text }) => user === person.id && ts !== undefined && text !== null,
	);
	const chosen = random.pick(own);
	const roll = random.below(10);
	if (!chosen || roll < 6) {
		const channel = random.pick(cast.channels) ?? '';
		const text = withMention(`${person.name} writes ${name}`, random, cast);
		const sent: Sent = { user: person.id, channel, id: `${person.id}-${name}`, ts: undefined, text };
		book.sent.set(sent.id, sent);
		sent.ts = (await call('chat.postMessage', { channel, text, client_msg_id: sent.id })).ts;
		return;
	}
	const { channel, ts } = chosen;
	if (roll === 6) {
		await call('conversations.mark', { channel, ts });
		return;
	}
	const text = roll < 9 ? withMention(`edited ${name}`, random, cast) : null;
	chosen.unconfirmed = { text };
	if (text === null) await call('chat.delete', { channel, ts });
	else await call('chat.update', { channel, ts, text });
	chosen.text = text;
	delete chosen.unconfirmed;
};

function withMention(text: string, random: Random, { readers }: Cast): string {
	const roll = random.below(6);
	if (roll === 0) return `${text} <!channel>`;
	return roll === 1 ? `${text} <@${random.pick(readers)?.id}>` : text;
}

const read: Step = async ({ person, call, random, book, cast }) => {
	const channel = random.pick(cast.channels) ?? '';
	const known = book.reads.get(keyOf(person.id, channel));
	if (!known) throw new CallFailed(`${person.id} has no row of ${channel}`);
	const messages = [...book.sent.values()].filter(
		(sent) => sent.channel === channel && sent.ts !== undefined && sent.text !== null && !sent.unconfirmed,
	);
	const roll = random.below(4);
	const chosen = random.pick(messages);
	if (roll === 0 || !chosen) {
		known.unconfirmed.add('preference');
		const answer = await call(random.below(2) === 0 ? 'conversations.mute' : 'conversations.unmute', {
			channel,
		});
		known.is_muted = answer.is_muted;
		known.position = answer.position;
		known.unconfirmed.delete('preference');
	} else {
		known.unconfirmed.add('cursor');
		const method = roll === 1 ? 'conversations.markUnread' : 'conversations.mark';
		const answer = await markAs(call, method, channel, chosen.ts);
		if (answer) Object.assign(known, answer);
		known.unconfirmed.delete('cursor');
	}
};

/** Null if the server answers that the message was deleted meanwhile. */
async function markAs(call: Call, method: string, channel: string, ts: string | undefined) {
	try {
		const { last_read, revision, position } = await call(method, { channel, ts });
		return { last_read, revision, position };
	} catch (error) {
		if (error instanceof CallFailed && error.message.includes('message_not_found')) return null;
		throw error;
	}
}

const pick: Step = async ({ person, call, random, book, cast }) => {
	const channel = random.pick(cast.channels) ?? '';
	const key = keyOf(person.id, channel);
	const picked = book.picked.get(key) ?? new Map<string, boolean>();
	book.picked.set(key, picked);
	const left = [...book.sent.values()].filter(
		(sent) => sent.channel === channel && sent.ts !== undefined && !picked.has(sent.ts) && sent.text !== null,
	);
	const ts = random.pick(left)?.ts;
	if (ts === undefined) {
		// A picker without work must also notice that the server died.
		await call('client.counts');
		return;
	}
	picked.set(ts, false);
	if (await markAs(call, 'conversations.markMessage', channel, ts)) picked.set(ts, true);
	else picked.delete(ts);
};

const move: Step = async ({ person, call, random, book, cast }) => {
	const channel = random.pick(cast.halls) ?? '';
	const key = keyOf(person.id, channel);
	const inside = book.members.get(key) === true;
	book.members.set(key, undefined);
	await call(inside ? 'conversations.leave' : 'conversations.join', { channel });
	book.members.set(key, !inside);
};
