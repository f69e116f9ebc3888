/** A small world for hand-written examples: Ann, Ben and Cid in a channel, Dot not in it, a direct message and a group message. */

import { Oracle, type PostOptions } from './oracle.ts';
import type { Row } from './types.ts';

export const ANN = 'UANN';
export const BEN = 'UBEN';
export const CID = 'UCID';
export const DOT = 'UDOT';

export const CHANNEL = 'C1';
export const DM = 'D1';
export const GROUP = 'G1';

export class Example extends Oracle {
	#clock = 0;

	constructor(cap?: number) {
		super(cap);
		this.createConversation(CHANNEL, 'public', [ANN, BEN, CID], 0);
		this.createConversation(DM, 'im', [ANN, BEN], 0);
		this.createConversation(GROUP, 'mpim', [ANN, BEN, CID], 0);
	}

	/** Stamps are 100, 200, 300 … over all conversations, so that a test can predict them. */
	now(): number {
		this.#clock += 100;
		return this.#clock;
	}

	say(user: string, text = 'hello', c = CHANNEL, options: PostOptions = {}): number {
		const ts = this.now();
		this.post(c, user, text, ts, options);
		return ts;
	}

	reply(user: string, threadTs: number, text = 'hello', c = CHANNEL): number {
		return this.say(user, text, c, { threadTs });
	}

	broadcast(user: string, threadTs: number, text = 'hello', c = CHANNEL): number {
		return this.say(user, text, c, { threadTs, broadcast: true });
	}

	change(ts: number, text: string, c = CHANNEL): void {
		this.edit(c, ts, text, this.now());
	}

	/** The row of a user for whom the conversation counts. */
	of(user: string, c = CHANNEL): Row {
		const row = this.row(user, c);
		if (row === undefined) {
			throw new Error(`${user} has no row in ${c}`);
		}
		return row;
	}

	unread(user: string, c = CHANNEL): number {
		return this.of(user, c).unread_count;
	}

	mentions(user: string, c = CHANNEL): number {
		return this.of(user, c).mention_count;
	}

	/** A user's view of one thread; undefined if the user does not follow it. */
	thread(
		user: string,
		threadTs: number,
	): { unread: number; mentions: number; last_read: number } | undefined {
		const found = this.threads(user).threads.find((each) => each.thread_ts === threadTs);
		return found && { unread: found.unread, mentions: found.mentions, last_read: found.last_read };
	}
}
