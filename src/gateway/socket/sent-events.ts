import { type LiveEvent, membershipOf } from '../../protocol/live-event.ts';

/**
 * The events that a client was sent when it resumed, or when its user joined a conversation while connected: one for
 * each subject, in its current state. Live events of the same subject with an equal or older stamp may still arrive
 * and must be dropped: they would bring back a deleted message or an earlier text.
 *
 * Processes of older releases do not send the subject. Their events are dropped only if an event with exactly their
 * stamp was sent.
 */
export class SentEvents {
	/** For each subject, the stamp of the newest event that was sent. */
	private readonly newest = new Map<string, number>();
	private readonly stamps = new Set<number>();
	/** The newest stamp that was sent. Events of a topic arrive in order: after an event with a later stamp, none of the sent events can arrive. */
	private readonly last: number;

	constructor(
		events: readonly Pick<LiveEvent, 'subject' | 'asOf'>[],
		/** The stamp of a join while connected: earlier events are not for this user, but may still arrive after a rejoin. */
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

	/** Whether this record can be dropped: after a live event with this stamp, no duplicate of a sent event arrives any more. */
	isOverAt(stamp: number): boolean {
		return stamp > this.last;
	}

	includes(subject: string | undefined, stamp: number): boolean {
		if (stamp < this.joined) return true;
		if (this.isOverAt(stamp)) return false;
		if (subject === undefined) return this.stamps.has(stamp);
		if (stamp <= (this.newest.get(subject) ?? 0)) return true;
		// A follow from before the user left must not come back.
		const membership = membershipOf(subject);
		return membership !== null && stamp < (this.newest.get(membership) ?? 0);
	}
}
