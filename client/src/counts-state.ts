import { type CountedMessage, countedMessage, countMessage, type PostedEvent } from './counting.ts';
import { SharedMap } from './shared-map.ts';
import type { Conversation, Preview, ThreadTotals } from './types.ts';
import {
	type Description,
	emptyDescription,
	type ReceivedCounts,
	toCounts,
	toDescription,
	type Wire,
} from './wire.ts';

/**
 * Conversations with their counts: what the server sent, plus the messages received since. No input or output; the
 * same events always give the same state. Invariant: snapshot plus events equals a fresh snapshot.
 *
 * Counts from the server may be older than messages that have already arrived. So each row keeps the messages
 * since, and counts them again on top of an older row. A row is never replaced by one with a smaller position.
 */

/** A conversation that counts: the user is a member, and it is not archived. */
interface Tracked {
	/** Position of the last counts from the server, 32 digits. */
	position: string;
	/** Messages received since. */
	since: CountedMessage[];
	/** Position of the newest message that is no longer kept in `since`. */
	forgotten: string;
	/** When the newest message was deleted while the one before it is still unknown; otherwise empty. */
	latestDeleted: string;
	/** The server has sent counts; until then the revision is unknown. */
	isCounted: boolean;
	/** Stamps of the name, topic, purpose and preview as last reported. */
	readonly described: Map<string, string>;
}

const STAMP_DIGITS = 16;
const stampOf = (position: string): string => position.slice(0, STAMP_DIGITS);
const atStamp = (stamp: string): string => stamp.padEnd(2 * STAMP_DIGITS, '0');
/** More than can be in flight. */
const MAX_KEPT = 500;
const MAX_MEMBERSHIP_STAMPS = 1_000;

const NO_THREADS: ThreadTotals = { hasUnreads: false, unreadCount: 0, mentionCount: 0, badgeCount: 0 };

const toTotals = (threads: Wire): ThreadTotals => ({
	hasUnreads: threads.has_unreads,
	unreadCount: threads.unread_count,
	mentionCount: threads.mention_count,
	badgeCount: threads.badge_count,
});

/** What an event leaves inconsistent. */
export type Consistency = 'none' | 'gap' | 'recount';

export class CountsState {
	/** The user whose counts these are. */
	self = '';
	readonly conversations = new SharedMap<string, Conversation>();
	threads: ThreadTotals = NO_THREADS;
	private threadsVersion = '';
	private conversationsBadge = 0;
	private tracked = new Map<string, Tracked>();
	/** Stamps of the newest join, leave, archive or unarchive, also of conversations that no longer count. */
	private readonly membershipStamps = new Map<string, string>();

	/** `changed` gets the conversation, or undefined for all. */
	constructor(private readonly changed: (id?: string) => void) {}

	get badge(): number {
		return this.conversationsBadge + this.threads.badgeCount;
	}

	/** Starts over from the answer of client.counts and the descriptions of its conversations. */
	reset(counts: Wire, channels: readonly Wire[]): void {
		const descriptions = new Map(channels.map((channel) => [channel.id, toDescription(channel)]));
		const before = this.conversations.snapshot;
		this.conversations.clear();
		this.tracked = new Map();
		this.conversationsBadge = 0;
		for (const row of [...counts.channels, ...counts.mpims, ...counts.ims]) {
			this.expect(row.id, '');
			const description = descriptions.get(row.id) ?? emptyDescription(row.id);
			this.setCounts(row.id, toCounts(row), { ...description, preview: before.get(row.id)?.preview ?? null });
		}
		this.threads = toTotals(counts.threads);
		this.threadsVersion = counts.threads.version;
		this.changed();
	}

	/** Whether the conversation counts; without a description it may not be shown yet. */
	isTracked(id: string): boolean {
		return this.tracked.has(id);
	}

	/** The revision to mark with; undefined while unknown. */
	revision(id: string): number | undefined {
		return this.tracked.get(id)?.isCounted ? this.conversations.get(id)?.revision : undefined;
	}

	/** The conversation counts from this stamp on; its row follows. Idempotent. */
	expect(id: string, stamp: string): boolean {
		const known = this.tracked.get(id);
		if (known && stampOf(known.position) >= stamp) return false;
		this.tracked.set(id, {
			position: atStamp(stamp),
			since: [],
			forgotten: '',
			latestDeleted: '',
			isCounted: false,
			described: new Map(),
		});
		return true;
	}

	/** Records a join, leave, archive or unarchive. Returns false if a newer one is known. */
	noteMembership(id: string, stamp: string): boolean {
		const { membershipStamps } = this;
		if (stamp < (membershipStamps.get(id) ?? '')) return false;
		membershipStamps.delete(id);
		membershipStamps.set(id, stamp);
		const [oldest] = membershipStamps.keys();
		if (membershipStamps.size > MAX_MEMBERSHIP_STAMPS && oldest !== undefined)
			membershipStamps.delete(oldest);
		return true;
	}

	/** Whether its counts have this stamp or a later one. */
	isCountedAt(id: string, stamp: string): boolean {
		const tracked = this.tracked.get(id);
		return tracked !== undefined && stampOf(tracked.position) >= stamp;
	}

	/** The user joined, so nothing is unread. The row brings what the event does not contain. */
	join(channel: Wire, stamp: string): void {
		const fresh = this.expect(channel.id, stamp);
		const described = toDescription(channel);
		if (fresh) this.put({ ...described, preview: null, ...strip(toCounts({ ...channel, position: '' })) });
		else this.describe(channel.id, described);
	}

	/** The user left, or the conversation was archived: it no longer counts. */
	drop(id: string): void {
		this.tracked.delete(id);
		const known = this.conversations.get(id);
		if (!known) return;
		this.conversationsBadge -= known.badgeCount;
		this.conversations.delete(id);
		this.changed(id);
	}

	describe(id: string, description: Partial<Description & { preview: Preview | null }>): void {
		const known = this.conversations.get(id);
		if (known) this.put({ ...known, ...description });
	}

	/** Updates one part of the description as of this stamp. An older one never overwrites a newer one. */
	redescribe(
		id: string,
		description: Partial<Description & { preview: Preview | null }>,
		stamp: string,
	): void {
		const described = this.tracked.get(id)?.described;
		const [what = ''] = Object.keys(description);
		if (!described || stamp < (described.get(what) ?? '')) return;
		described.set(what, stamp);
		this.describe(id, description);
	}

	/** Applies counts from the server. Older ones never overwrite newer ones. */
	setCounts(
		id: string,
		received: ReceivedCounts,
		description?: Description & { preview: Preview | null },
	): Consistency {
		const tracked = this.tracked.get(id);
		if (!tracked || received.position < tracked.position) return 'none';
		const stamp = stampOf(received.position);
		if (stamp < tracked.forgotten) return 'recount';
		tracked.position = received.position;
		tracked.isCounted = true;
		tracked.since = tracked.since.filter(({ position }) => position > stamp);
		if (tracked.latestDeleted <= stamp) tracked.latestDeleted = '';
		const known = this.conversations.get(id) ?? { ...emptyDescription(id), preview: null };
		const counts = tracked.since.reduce(countMessage, strip(received));
		this.put({ ...known, ...description, ...counts });
		return 'none';
	}

	/**
	 * Applies a message in the timeline. `prev_ts` shows whether the previous message is known. A client that is
	 * catching up may know messages from an earlier attempt that were deleted meanwhile: their deletions follow.
	 */
	post(
		event: PostedEvent & { readonly channel: string; readonly prev_ts: string },
		isCatchingUp = false,
	): Consistency {
		const tracked = this.tracked.get(event.channel);
		// The row already includes the message, or it arrived before.
		if (!tracked || event.position <= (tracked.since.at(-1)?.position ?? stampOf(tracked.position)))
			return 'none';
		const message = countedMessage(event, this.self);
		const known = this.conversations.get(event.channel);
		if (known && isGap(known.latest, event.prev_ts, isCatchingUp || tracked.latestDeleted !== ''))
			return 'gap';
		tracked.latestDeleted = '';
		tracked.since.push(message);
		if (tracked.since.length > MAX_KEPT) tracked.forgotten = tracked.since.shift()?.position ?? '';
		const { ts, user, text } = event;
		tracked.described.set('preview', event.position);
		if (known) this.put({ ...countMessage(known, message), preview: { ts, user, text } });
		return 'none';
	}

	/** The server sends the new counts and the new latest message; this records that they are pending. */
	remove(channel: string, ts: string, stamp: string): void {
		const tracked = this.tracked.get(channel);
		if (tracked && this.conversations.get(channel)?.latest === ts) tracked.latestDeleted = stamp;
	}

	setThreads(event: Wire): void {
		// Ordered by version, not by position, which depends on the clock of a gateway.
		if (isOlderVersion(event.version, this.threadsVersion)) return;
		this.threads = toTotals(event);
		this.threadsVersion = event.version;
		this.changed();
	}

	private put(conversation: Conversation): void {
		const before = this.conversations.get(conversation.id)?.badgeCount ?? 0;
		this.conversationsBadge += conversation.badgeCount - before;
		this.conversations.set(conversation.id, conversation);
		this.changed(conversation.id);
	}
}

/**
 * Compares both parts. The user's part may go back a little when a lost Redis is restored, and the part of the
 * conversations when the user leaves one: then the other part has changed too, or the totals have not.
 */
const isOlderVersion = (version = '', known = ''): boolean =>
	version !== known &&
	stampOf(version) <= stampOf(known) &&
	version.slice(STAMP_DIGITS) <= known.slice(STAMP_DIGITS);

/** Whether the previous message never arrived, or the newest known one is missing. */
function isGap(latest: string, prevTs: string, mayBeDeleted: boolean): boolean {
	return prevTs > latest || (prevTs < latest && !mayBeDeleted);
}

function strip({ position: _, ...counts }: ReceivedCounts) {
	return counts;
}
