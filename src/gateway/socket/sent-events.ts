import type { LiveEvent } from '../../protocol/live-event.ts';

/**
 * The events that a client was sent when it resumed, or joined late: of each subject one, as it stands. Live events of the same
 * subject that are as old or older may still arrive. They would undo what the client knows: bring back a message after its
 * deletion, or an earlier text of it.
 *
 * A process of an older release does not name the subject. Of its events those are recognised that were sent with exactly their
 * stamp; an older state of the same subject is not.
 */
export class SentEvents {
	/** By subject, the stamp of the newest event that was sent. */
	private readonly newest = new Map<string, number>();
	private readonly stamps = new Set<number>();
	/** A topic has one order: after the last of them, none can arrive any more. */
	private readonly last: number;

	constructor(
		events: readonly Pick<LiveEvent, 'subject' | 'asOf'>[],
		/** The stamp of a late join: earlier events are not for this user, and may still arrive after a user has rejoined. */
		private readonly joined = 0,
	) {
		let last = joined;
		for (const { subject, asOf } of events) {
			this.newest.set(subject, Math.max(this.newest.get(subject) ?? 0, asOf));
			this.stamps.add(asOf);
			last = Math.max(last, asOf);
		}
		this.last = last;
	}

	/** After a live event of this stamp, no event that was sent already can arrive. */
	isOverAt(stamp: number): boolean {
		return stamp > this.last;
	}

	includes(subject: string | undefined, stamp: number): boolean {
		if (stamp < this.joined) return true;
		if (this.isOverAt(stamp)) return false;
		return subject === undefined ? this.stamps.has(stamp) : stamp <= (this.newest.get(subject) ?? 0);
	}
}
