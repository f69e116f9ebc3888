import { expect } from 'bun:test';
import { client } from '../api.ts';
import { eventually } from '../eventually.ts';
import { checkMembers, checkMessages, checkOnce, checkPicked, checkReads, histories } from '../kill-check.ts';
import type { Book, Cast } from '../kill-load.ts';
import type { Person } from '../people.ts';
import { noRepeats, patientCall, type Repeats } from './patient-call.ts';
import { checkReplies, type ReplyBook } from './replies.ts';
import type { Kind, Watcher } from './watcher.ts';

/**
 * Compares a cluster with the record of what it acknowledged: every message exists once in its last state, every cursor
 * is where it was set, and every count equals a recount of the history.
 */
export async function checkAll(url: string, cast: Cast, book: Book, replies: ReplyBook): Promise<void> {
	const witness = cast.writers[0] as Person;
	// While state is being rebuilt, the cluster rejects calls with a temporary error; afterwards it must not reject any.
	await patientCall(url, witness, noRepeats())('client.counts');
	const found = await histories(client(url, witness.token), cast.channels);
	checkMessages(book, found);
	checkOnce(found);
	await checkMembers(url, cast, book, witness);
	await checkReads(url, cast, book, found);
	await checkPicked(url, cast, book, found);
	await checkReplies(client(url, witness.token), replies);
}

/** Long enough for a client that has to reconnect; events in flight arrive sooner. */
const LIVE_WITHIN_MS = 30_000;

const KINDS: readonly Kind[] = ['messages', 'edits', 'deletes', 'marks'];

const sum = (watchers: readonly Watcher[], of: (watcher: Watcher) => number): number =>
	watchers.reduce((total, watcher) => total + of(watcher), 0);

/** Checks that connected clients have the server's state (messages, edits, deletes, their own marks), and that each kind occurred. */
export async function checkLive(watchers: readonly Watcher[]): Promise<void> {
	await eventually(async () => {
		for (const watcher of watchers) expect(await watcher.differences()).toEqual([]);
	}, LIVE_WITHIN_MS);
	for (const kind of KINDS)
		expect([kind, sum(watchers, ({ received }) => received[kind])]).not.toEqual([kind, 0]);
}

/** Call after all checks, which have confirmed the printed zeros. */
export function printFigures(
	what: string,
	book: Book,
	replies: ReplyBook,
	{ unanswered, rejected }: Repeats,
	watchers: readonly Watcher[],
): void {
	const sent = [...book.sent.values()];
	const messages = sent.filter(({ ts }) => ts !== undefined).length;
	const codes = [...rejected].map(([code, times]) => `${times} ${code}`).join(', ') || 'none';
	const answered = replies.replies.filter(({ ts }) => ts !== undefined).length;
	const received = KINDS.map((kind) => `${sum(watchers, (one) => one.received[kind])} ${kind}`).join(', ');
	const missed = KINDS.map((kind) => `0 ${kind}`).join(', ');
	console.log(
		`${what}: ${book.acknowledged + answered} acknowledged (${messages} messages, ${answered} replies), 0 lost, 0 duplicated, 0 wrong counts, ` +
			`missed live events: ${missed} (${watchers.length} clients received ${received}; ` +
			`${sum(watchers, (one) => one.reconnects)} reconnects, ${sum(watchers, (one) => one.resyncs)} resyncs); ` +
			`retried: ${unanswered} without an answer, rejected: ${codes}`,
	);
}
