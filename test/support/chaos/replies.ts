import { expect } from 'bun:test';
import { ERRORS } from '../../../src/model/errors.ts';
import { type Call, rawClient } from '../api.ts';
import type { Cast } from '../kill-load.ts';
import type { Random } from '../oracle/random.ts';
import type { Person } from '../people.ts';
import { noRepeats, patientCall } from './patient-call.ts';

/**
 * Thread replies without a client_msg_id, as Slack's own clients send them. A reply is sent again only after an error that
 * guarantees that nothing has changed, never after an unknown outcome.
 */

interface Reply {
	readonly channel: string;
	readonly root: string;
	readonly text: string;
	/** Undefined: the outcome is unknown. */
	ts: string | undefined;
}

export interface ReplyBook {
	readonly roots: Map<string, string>;
	readonly replies: Reply[];
}

export const newReplyBook = (): ReplyBook => ({ roots: new Map(), replies: [] });

const PAUSE_MS = 200;

/** One more reply, to the only thread of a channel. */
export async function reply(
	url: string,
	person: Person,
	cast: Cast,
	book: ReplyBook,
	random: Random,
	name: string,
): Promise<void> {
	const channel = random.pick(cast.channels) ?? '';
	const root = await rootOf(url, person, channel, book);
	const one: Reply = { channel, root, text: `${person.name} replies ${name}`, ts: undefined };
	book.replies.push(one);
	one.ts = await postOnce(url, person, { channel, thread_ts: root, text: one.text });
}

async function rootOf(url: string, person: Person, channel: string, { roots }: ReplyBook): Promise<string> {
	const known = roots.get(channel);
	if (known !== undefined) return known;
	const post = { channel, text: `thread of ${person.name}`, client_msg_id: `root-${person.id}-${channel}` };
	const { ts } = await patientCall(url, person, noRepeats())('chat.postMessage', post);
	roots.set(channel, roots.get(channel) ?? ts);
	return roots.get(channel) ?? ts;
}

/** Undefined: no answer, or an unknown outcome. */
async function postOnce(
	url: string,
	{ token }: Person,
	post: Readonly<Record<string, string>>,
): Promise<string | undefined> {
	for (;;) {
		const answer = await rawClient(url, token)('chat.postMessage', post).catch(() => null);
		if (answer?.ok) return answer.ts;
		if (!answer || answer.error === 'outcome_unknown') return undefined;
		if (!ERRORS[answer.error as keyof typeof ERRORS]?.retry) throw new Error(JSON.stringify(answer));
		await Bun.sleep(PAUSE_MS);
	}
}

/** Every acknowledged reply exists once, and none with an unknown outcome exists twice. Returns the number of replies. */
export async function checkReplies(call: Call, book: ReplyBook): Promise<number> {
	const shown: { ts: string; text: string }[] = [];
	for (const [channel, root] of book.roots)
		for (let cursor = ''; ; ) {
			const page = await call('conversations.replies', { channel, ts: root, limit: 1000, cursor });
			shown.push(...page.messages.filter(({ ts }: { ts: string }) => ts !== root));
			cursor = page.response_metadata.next_cursor;
			if (cursor === '') break;
		}
	const byText = Map.groupBy(shown, ({ text }) => text);
	expect([...byText].filter(([, found]) => found.length > 1)).toEqual([]);
	const lost = book.replies.filter(({ ts, text }) => ts !== undefined && byText.get(text)?.[0]?.ts !== ts);
	expect(lost).toEqual([]);
	return shown.length;
}
