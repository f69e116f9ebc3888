import { expect } from 'bun:test';
import { type Call, client } from './api.ts';
import { type Book, type Cast, keyOf, type Sent } from './kill-load.ts';
import type { Person } from './people.ts';

/**
 * Compares a server with the record of what it acknowledged. Changes with an unknown outcome are looked up and recorded,
 * so that the next round knows them.
 */

interface Message {
	readonly ts: string;
	readonly user: string;
	readonly text: string;
	readonly client_msg_id?: string;
}

export type Histories = ReadonlyMap<string, ReadonlyMap<string, Message>>;

/** Every message of these channels, by ts, as the user sees it. */
export async function histories(call: Call, channels: readonly string[]): Promise<Histories> {
	const found = new Map<string, Map<string, Message>>();
	for (const channel of channels) {
		const messages = new Map<string, Message>();
		let cursor = '';
		do {
			const page = await call('conversations.history', { channel, limit: 1000, cursor });
			for (const message of page.messages) messages.set(message.ts, message);
			cursor = page.response_metadata.next_cursor;
		} while (cursor !== '');
		found.set(channel, messages);
	}
	return found;
}

/** Checks that acknowledged messages, edits and deletes took effect. After an unknown outcome, the old and the new text are right. */
export function checkMessages(book: Book, shown: Histories): void {
	for (const sent of book.sent.values()) {
		if (sent.ts === undefined) continue;
		const message = shown.get(sent.channel)?.get(sent.ts);
		const text = message?.text ?? null;
		const possible = sent.unconfirmed ? [sent.text, sent.unconfirmed.text] : [sent.text];
		if (!possible.includes(text))
			throw new Error(
				`${sent.channel} ${sent.ts}: ${JSON.stringify(text)}, acknowledged ${possible.join(' or ')}`,
			);
		if (message) expect([message.user, message.client_msg_id]).toEqual([sent.user, sent.id]);
		sent.text = text;
		delete sent.unconfirmed;
	}
}

/**
 * Repeats unacknowledged sends, and some acknowledged ones, and checks that the answer has the ts of the existing
 * message. Returns the number of unacknowledged sends.
 */
export async function repeatSends(url: string, cast: Cast, book: Book, shown: Histories): Promise<number> {
	const tsById = new Map<string, string>();
	for (const messages of shown.values())
		for (const { client_msg_id: id, ts } of messages.values()) if (id) tsById.set(id, ts);
	const unacknowledged = [...book.sent.values()].filter(({ ts }) => ts === undefined);
	const acknowledged = [...book.sent.values()].filter(({ ts, text }) => ts !== undefined && text !== null);
	for (const sent of [...unacknowledged, ...acknowledged.slice(-20)]) {
		const { ts } = await repeat(url, cast, sent);
		const known = sent.ts ?? tsById.get(sent.id);
		if (known !== undefined) expect(ts).toBe(known);
		sent.ts = ts;
	}
	return unacknowledged.length;
}

function repeat(url: string, { writers }: Cast, { user, channel, id, text }: Sent) {
	const writer = writers.find((person) => person.id === user);
	return client(url, writer?.token ?? '')('chat.postMessage', { channel, text, client_msg_id: id });
}

export function checkOnce(shown: Histories): void {
	const ids = [...shown.values()].flatMap((messages) =>
		[...messages.values()].map((one) => one.client_msg_id),
	);
	expect(new Set(ids).size).toBe(ids.length);
}

/** Checks cursors against the record of acknowledged ones, and every count against its definition. */
export async function checkReads(url: string, cast: Cast, book: Book, shown: Histories): Promise<void> {
	for (const person of [...cast.writers, ...cast.readers]) {
		const counts = await client(url, person.token)('client.counts');
		const rows = counts.channels.filter(({ id }: { id: string }) => shown.has(id));
		expect(rows).toHaveLength(shown.size);
		for (const row of rows) {
			expect({ channel: row.id, ...numbersOf(row) }).toEqual({
				channel: row.id,
				...countsByDefinition(person, row, shown),
			});
			const known = book.reads.get(keyOf(person.id, row.id));
			if (!known) continue;
			expect([row.position, known.position].toSorted()).toEqual([known.position, row.position]);
			expect(row.revision).toBeGreaterThanOrEqual(known.revision);
			const { last_read, revision, is_muted, position } = row;
			if (!known.unconfirmed.has('cursor')) expect(known).toMatchObject({ last_read, revision });
			if (!known.unconfirmed.has('preference')) expect(known).toMatchObject({ is_muted });
			Object.assign(known, { last_read, revision, is_muted, position });
			known.unconfirmed.clear();
		}
	}
}

/** Repeats marks with an unknown outcome, and checks that only the messages that were marked one by one are read. */
export async function checkPicked(url: string, cast: Cast, book: Book, shown: Histories): Promise<void> {
	for (const person of cast.pickers) {
		const call = client(url, person.token);
		for (const [channel, messages] of shown) {
			const picked = book.picked.get(keyOf(person.id, channel)) ?? new Map<string, boolean>();
			for (const [ts, acknowledged] of picked)
				if (!acknowledged && messages.has(ts)) {
					await call('conversations.markMessage', { channel, ts });
					picked.set(ts, true);
				}
			const left = [...messages.keys()].filter((ts) => !picked.has(ts));
			const { channels } = await call('client.counts');
			const { unread_count } = channels.find(({ id }: Row) => id === channel);
			expect([channel, unread_count]).toEqual([channel, left.length]);
		}
	}
}

interface Row {
	readonly id: string;
	readonly last_read: string;
	readonly unread_count: number;
	readonly mention_count: number;
}

const numbersOf = ({ unread_count, mention_count }: Row) => ({ unread_count, mention_count });

/** Counts messages of other users after the cursor, and those of them that mention the user. */
function countsByDefinition(person: Person, row: Row, shown: Histories) {
	const messages = [...(shown.get(row.id)?.values() ?? [])];
	const unread = messages.filter(({ ts, user }) => ts > row.last_read && user !== person.id);
	const mentions = unread.filter(
		({ text }) => text.includes(`<@${person.id}>`) || text.includes('<!channel>'),
	);
	return { unread_count: unread.length, mention_count: mentions.length };
}

export async function checkMembers(url: string, cast: Cast, book: Book, witness: Person): Promise<void> {
	const call = client(url, witness.token);
	for (const channel of cast.halls) {
		const { members } = await call('conversations.members', { channel, limit: 1000 });
		for (const { id } of cast.movers) {
			const key = keyOf(id, channel);
			const acknowledged = book.members.get(key);
			const inside = members.includes(id);
			if (acknowledged !== undefined) expect([key, inside]).toEqual([key, acknowledged]);
			book.members.set(key, inside);
		}
	}
}
