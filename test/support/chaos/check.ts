import { client } from '../api.ts';
import { checkMembers, checkMessages, checkOnce, checkPicked, checkReads, histories } from '../kill-check.ts';
import type { Book, Cast } from '../kill-load.ts';
import type { Person } from '../people.ts';
import { noRepeats, patientCall, type Repeats } from './patient-call.ts';

/**
 * Holds a cluster against the book of what it acknowledged: every message once and as it was left, every read position where it
 * was put, every count what a recount of the history gives.
 */
export async function checkAll(url: string, cast: Cast, book: Book): Promise<void> {
	const witness = cast.writers[0] as Person;
	// What is being restored says so; from there on nothing is refused any more.
	await patientCall(url, witness, noRepeats())('client.counts');
	const found = await histories(client(url, witness.token), cast.channels);
	checkMessages(book, found);
	checkOnce(found);
	await checkMembers(url, cast, book, witness);
	await checkReads(url, cast, book, found);
	await checkPicked(url, cast, book, found);
}

export function tell(what: string, book: Book, { unanswered, refused }: Repeats): void {
	const sent = [...book.sent.values()];
	const messages = sent.filter(({ ts }) => ts !== undefined).length;
	const codes = [...refused].map(([code, times]) => `${times} ${code}`).join(', ') || 'none';
	console.log(
		`${what}: ${book.acknowledged} acknowledged (${messages} messages), 0 lost; asked again: ${unanswered} without an answer, refused: ${codes}`,
	);
}
