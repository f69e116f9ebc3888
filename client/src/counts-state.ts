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
 * Conversations with their counts: the rows that the server sent, plus the messages received since. Pure: the same
 * events always give the same state. Invariant: snapshot plus events equals a fresh snapshot.
 *
 * A row from the server may be older than messages that have already arrived. So the state keeps the messages since
 * the last row, and counts them again on top of a row that lacks them. A row with a smaller position never replaces
 * one with a larger position.
 */

/** A conversation that counts: the user is a member, and the conversation is not archived. */
interface Tracked {
	/** Position of the last counts from the server, 32 digits. */
	position: string;
	/** Messages received since. */
	since: CountedMessage[];
	/** Position of the newest message that is no longer kept in `since`. */
	forgotten: string;
	/** The stamp at which the newest message was deleted, while the message before it is still unknown; otherwise empty. */
	latestDeleted: string;
	/** The server has sent counts; until then the revision is unknown. */
	isCounted: boolean;
	/** For name, topic, purpose and preview: the stamp of the last change. */
	readonly described: Map<string, string>;
}

const STAMP_DIGITS = 16;
const stampOf = (position: string): string => position.slice(0, STAMP_DIGITS);
const atStamp = (stamp: string): string => stamp.padEnd(2 * STAMP_DIGITS, '0');
/** More messages than can be in flight. */
const MAX_KEPT = 500;
const MAX_MEMBERSHIP_STAMPS = 1_000;

const NO_THREADS: ThreadTotals = { hasUnreads: false, unreadCount: 0, mentionCount: 0, badgeCount: 0 };

const toTotals = (threads: Wire): ThreadTotals => ({
	hasUnreads: threads.has_unreads,
	unreadCount: threads.unread_count,
	mentionCount: threads.mention_count,
	badgeCount: threads.badge_count,
});

/** What the caller must do after an update: nothing, reload everything, or fetch the conversation. */
export type NeededReload = 'none' | 'gap' | 'recount';

export class CountsState {
	/** The user whose counts these are. */
	self = '';
	readonly conversations = new SharedMap<string, Conversation>();
	threads: ThreadTotals = NO_THREADS;
	private threadsVersion = '';
	private conversationsBadge = 0;
	private tracked = new Map<string, Tracked>();
	/** By conversation, also one that no longer counts: the stamp of the newest join, leave, archive or unarchive. */
	private readonly membershipStamps = new Map<string, string>();

	/** `changed` is called with the id of the changed conversation; without an id, anything may have changed. */
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
			this.track(row.id, '');
			const description = descriptions.get(row.id) ?? emptyDescription(row.id);
			this.setCounts(row.id, toCounts(row), { ...description, preview: before.get(row.id)?.preview ?? null });
		}
		this.threads = toTotals(counts.threads);
		this.threadsVersion = counts.threads.version;
		this.changed();
	}

	/** Whether the conversation counts. Until its first counts arrive, it may be missing in `conversations`. */
	isTracked(id: string): boolean {
		return this.tracked.has(id);
	}

	/** The revision to mark with; undefined while unknown. */
	revision(id: string): number | undefined {
		return this.tracked.get(id)?.isCounted ? this.conversations.get(id)?.revision : undefined;
	}

	/** Counts the conversation from this stamp on; its row follows. Returns false if its counts have this stamp or a later one already. */
	track(id: string, stamp: string): boolean {
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

	/** Whether the counts of the conversation have this stamp or a later one. */
	isCountedAt(id: string, stamp: string): boolean {
		const tracked = this.tracked.get(id);
		return tracked !== undefined && stampOf(tracked.position) >= stamp;
	}

	/** The user joined, so nothing is unread. The row that follows has what the event lacks. */
	join(channel: Wire, stamp: string): void {
		const fresh = this.track(channel.id, stamp);
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

	/** Updates one part of the description, unless a change with a newer stamp is known. */
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

	/** Applies counts from the server. Older counts never overwrite newer ones. */
	setCounts(
		id: string,
		received: ReceivedCounts,
		description?: Description & { preview: Preview | null },
	): NeededReload {
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
	 * Applies a message in the timeline. `prev_ts` shows whether the client knows the previous message. A client that
	 * is catching up may know messages that were deleted meanwhile: the events of their deletion follow.
	 */
	post(
		event: PostedEvent & { readonly channel: string; readonly prev_ts: string },
		isCatchingUp = false,
	): NeededReload {
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

	/** A message was deleted. If it was the newest, the one before is unknown until the server sends counts. */
	noteDeleted(channel: string, ts: string, stamp: string): void {
		const tracked = this.tracked.get(channel);
		if (tracked && this.conversations.get(channel)?.latest === ts) tracked.latestDeleted = stamp;
	}

	setThreads(event: Wire): void {
		// The version orders totals. The position does not: it depends on the clock of a gateway.
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
 * A version has two parts, and it is older only if neither part is newer. The user's part may fall a little when a Redis
 * node that lost data is rebuilt, and the conversations' part when the user leaves a conversation. Then the other part
 * has risen, or the totals are unchanged.
 */
const isOlderVersion = (version = '', known = ''): boolean =>
	version !== known &&
	stampOf(version) <= stampOf(known) &&
	version.slice(STAMP_DIGITS) <= known.slice(STAMP_DIGITS);

/**
 * Whether the client missed something: a message (`prev_ts` is newer than the newest known message), or a delete (`prev_ts` is older,
 * and no delete that the client knows of explains why).
 */
function isGap(latest: string, prevTs: string, mayBeDeleted: boolean): boolean {
	return prevTs > latest || (prevTs < latest && !mayBeDeleted);
}

function strip({ position: _, ...counts }: ReceivedCounts) {
	return counts;
}
