import type { Message } from './types.ts';
import { targetTs, type Wire } from './wire.ts';

/**
 * Decides which events about messages are outdated. Events of a conversation arrive in order, but a worker that lost
 * its partition may publish late, and a resume may send an event twice. Rules: a deletion is final, the edit with the
 * later time wins, and an unknown message is added only if it is after the newest one.
 */

/** Number of deletions to remember: more than can be in flight. */
const MAX_DELETIONS = 1_000;
const MAX_REACTIONS = 1_000;

export class Freshness {
	private readonly deleted = new Set<string>();
	/** By root: the position of the last applied number of replies. */
	private readonly counted = new Map<string, string>();
	/** By message and emoji (empty for a pin): the position of the newest event. */
	private readonly reacted = new Map<string, string>();
	/** The newest message that was loaded or received. */
	private newest = '';

	/** Call after a page that reaches the newest message was loaded. */
	loaded(last: Message | undefined): void {
		this.newest = last?.ts ?? '';
		this.counted.clear();
		this.reacted.clear();
	}

	/** Whether to add this message, or to replace the known one with it. */
	accepts(event: Wire, message: Message, known: Message | undefined): boolean {
		if (this.deleted.has(message.ts)) return false;
		const isAdded = known !== undefined || message.ts > this.newest;
		// The answer to a post has no position and may be ahead of the events.
		if (event.position !== undefined && message.ts > this.newest) this.newest = message.ts;
		if (!known) return isAdded;
		return !known.isTombstone && (message.edited ?? '') >= (known.edited ?? '');
	}

	/** Whether to apply this number of replies. */
	acceptsReplies({ position }: Wire, root: Message, known: Message | undefined): boolean {
		if (this.deleted.has(root.ts) && !root.isTombstone) return false;
		const counted = this.counted.get(root.ts) ?? '';
		const isLate = position < counted || position < positionOf(known?.latestReply);
		if (!isLate) this.counted.set(root.ts, position);
		return !isLate;
	}

	/** Whether to apply a reaction or a pin. */
	acceptsReaction(event: Wire): boolean {
		const { reaction = '', position } = event;
		const key = `${targetTs(event)} ${reaction}`;
		if (position < (this.reacted.get(key) ?? '')) return false;
		this.reacted.set(key, position);
		if (this.reacted.size > MAX_REACTIONS) this.reacted.delete(this.reacted.keys().next().value as string);
		return true;
	}

	delete(ts: string): void {
		this.deleted.add(ts);
		if (this.deleted.size <= MAX_DELETIONS) return;
		const [oldest] = this.deleted;
		if (oldest !== undefined) this.deleted.delete(oldest);
	}
}

/** A position is a ts without the dot. */
const positionOf = (ts: string | null | undefined): string => ts?.replace('.', '') ?? '';
