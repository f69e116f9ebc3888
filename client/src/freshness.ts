import type { Message } from './types.ts';
import { markedTs, type Wire } from './wire.ts';

/**
 * Says which events about messages are older than what is known. Events of one conversation come in order, but a worker that
 * lost its partition may publish late, and a resume may send something twice. A deletion is final, an edit carries its time, and
 * a message is new only after the newest one.
 */

/** Deletions that are remembered: more than can be on their way at once. */
const MOST_DELETIONS = 1_000;
const MOST_REACTIONS = 1_000;

export class Freshness {
	private readonly deleted = new Set<string>();
	/** By root: the position at which its replies were counted last. */
	private readonly counted = new Map<string, string>();
	/** By message and emoji (none for a pin): the position of the newest event. */
	private readonly reacted = new Map<string, string>();
	/** The newest message that was loaded or came as an event. */
	private newest = '';

	/** A page that reaches the newest message was put in place. */
	loaded(last: Message | undefined): void {
		this.newest = last?.ts ?? '';
		this.counted.clear();
		this.reacted.clear();
	}

	/** Whether to add a message, or to replace it by one that was posted or edited. */
	takes(event: Wire, message: Message, known: Message | undefined): boolean {
		if (this.deleted.has(message.ts)) return false;
		const isAdded = known !== undefined || message.ts > this.newest;
		// An answer to a post comes without a position, and may be ahead of the events.
		if (event.position !== undefined && message.ts > this.newest) this.newest = message.ts;
		if (!known) return isAdded;
		return !known.isTombstone && (message.edited ?? '') >= (known.edited ?? '');
	}

	/** Whether to take these numbers of replies. */
	takesReplies({ position }: Wire, root: Message, known: Message | undefined): boolean {
		if (this.deleted.has(root.ts) && !root.isTombstone) return false;
		const counted = this.counted.get(root.ts) ?? '';
		const isLate = position < counted || position < stampOf(known?.latestReply);
		if (!isLate) this.counted.set(root.ts, position);
		return !isLate;
	}

	/** Whether to take how many there are of one emoji, or whether the message is pinned. */
	takesMark(event: Wire): boolean {
		const { reaction = '', position } = event;
		const key = `${markedTs(event)} ${reaction}`;
		if (position < (this.reacted.get(key) ?? '')) return false;
		this.reacted.set(key, position);
		if (this.reacted.size > MOST_REACTIONS) this.reacted.delete(this.reacted.keys().next().value as string);
		return true;
	}

	delete(ts: string): void {
		this.deleted.add(ts);
		if (this.deleted.size <= MOST_DELETIONS) return;
		const [oldest] = this.deleted;
		if (oldest !== undefined) this.deleted.delete(oldest);
	}
}

/** Positions are stamps without the dot. */
const stampOf = (ts: string | null | undefined): string => ts?.replace('.', '') ?? '';
