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
 * Conversations with their counts: what the server sent, and on top of it the messages that came since. No input or
 * output; the same events always give the same state. The law it keeps: snapshot plus events is a fresh snapshot.
 *
 * Counts from the server may be older than messages that have come already. So the messages since are kept with
 * each row, and counted again on top of an older row. A row never gives way to one with a smaller position.
 */

/** A conversation that counts are expected of: the user is in it, and it is not archived. */
interface Tracked {
	/** Position of its last counts from the server, 32 digits. */
	position: string;
	/** Messages that came since. */
	since: CountedMessage[];
	/** The newest message that is no longer kept among these. */
	forgotten: string;
	/** When the newest message was deleted, and the one before it is not known yet; empty otherwise. */
	latestDeleted: string;
	/** The server has sent its counts; until then the revision is unknown. */
	isCounted: boolean;
	/** When the server last reported its name, topic, purpose and preview. */
	readonly described: Map<string, string>;
}

const STAMP_DIGITS = 16;
const stampOf = (position: string): string => position.slice(0, STAMP_DIGITS);
const atStamp = (stamp: string): string => stamp.padEnd(2 * STAMP_DIGITS, '0');
/** More than can be on their way at once. */
const MOST_KEPT = 500;
const MOST_MEMBERSHIP_STAMPS = 1_000;

const NO_THREADS: ThreadTotals = { hasUnreads: false, unreadCount: 0, mentionCount: 0, badgeCount: 0 };

const toTotals = (threads: Wire): ThreadTotals => ({
	hasUnreads: threads.has_unreads,
	unreadCount: threads.unread_count,
	mentionCount: threads.mention_count,
	badgeCount: threads.badge_count,
});

/** What an event leaves uncertain. */
export type Consistency = 'none' | 'gap' | 'recount';

export class CountsState {
	/** The user whose counts these are. */
	self = '';
	readonly conversations = new SharedMap<string, Conversation>();
	threads: ThreadTotals = NO_THREADS;
	private threadsVersion = '';
	private conversationsBadge = 0;
	private tracked = new Map<string, Tracked>();
	/** Stamps of the newest join, leave, archive or unarchive of conversations; also of those that are not tracked any more. */
	private readonly membershipStamps = new Map<string, string>();

	/** `changed`: of this conversation, or of all when it is not given. */
	constructor(private readonly changed: (id?: string) => void) {}

	get badge(): number {
		return this.conversationsBadge + this.threads.badgeCount;
	}

	/** Starts over from an answer of client.counts and the descriptions of its conversations. */
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

	/** Whether counts of it are expected; without its description it may not be shown yet. */
	isTracked(id: string): boolean {
		return this.tracked.has(id);
	}

	/** The revision to mark with; undefined while it is not known. */
	revision(id: string): number | undefined {
		return this.tracked.get(id)?.isCounted ? this.conversations.get(id)?.revision : undefined;
	}

	/** From this stamp on the conversation counts; its row will follow. A second call changes nothing. */
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

	/** Notes an event about whether the conversation counts. False: it is older than one that was noted before. */
	noteMembership(id: string, stamp: string): boolean {
		const { membershipStamps } = this;
		if (stamp < (membershipStamps.get(id) ?? '')) return false;
		membershipStamps.delete(id);
		membershipStamps.set(id, stamp);
		const [oldest] = membershipStamps.keys();
		if (membershipStamps.size > MOST_MEMBERSHIP_STAMPS && oldest !== undefined)
			membershipStamps.delete(oldest);
		return true;
	}

	/** Whether its counts are of this stamp or of a later one. */
	isCountedAt(id: string, stamp: string): boolean {
		const tracked = this.tracked.get(id);
		return tracked !== undefined && stampOf(tracked.position) >= stamp;
	}

	/** The user joined: nothing is unread. What the event does not contain follows with the row. */
	join(channel: Wire, stamp: string): void {
		const fresh = this.expect(channel.id, stamp);
		const described = toDescription(channel);
		if (fresh) this.put({ ...described, preview: null, ...strip(toCounts({ ...channel, position: '' })) });
		else this.describe(channel.id, described);
	}

	/** Left or archived: it counts no more. */
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

	/** One part of its description, as it was at this stamp. An older one never overwrites a newer one. */
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

	/** Counts as the server sees them. An older one never overwrites a newer one. */
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
	 * A message in the timeline. `prev_ts` shows whether the one before it is known. A client that catches up may know messages
	 * that were deleted meanwhile, from an earlier attempt: their deletions follow.
	 */
	post(
		event: PostedEvent & { readonly channel: string; readonly prev_ts: string },
		isCatchingUp = false,
	): Consistency {
		const tracked = this.tracked.get(event.channel);
		// Its row includes it already, or it arrived before.
		if (!tracked || event.position <= (tracked.since.at(-1)?.position ?? stampOf(tracked.position)))
			return 'none';
		const message = countedMessage(event, this.self);
		const known = this.conversations.get(event.channel);
		if (known && isGap(known.latest, event.prev_ts, isCatchingUp || tracked.latestDeleted !== ''))
			return 'gap';
		tracked.latestDeleted = '';
		tracked.since.push(message);
		if (tracked.since.length > MOST_KEPT) tracked.forgotten = tracked.since.shift()?.position ?? '';
		const { ts, user, text } = event;
		tracked.described.set('preview', event.position);
		if (known) this.put({ ...countMessage(known, message), preview: { ts, user, text } });
		return 'none';
	}

	/** What it does to the counts follows from the server; which message is the newest one, too. */
	remove(channel: string, ts: string, stamp: string): void {
		const tracked = this.tracked.get(channel);
		if (tracked && this.conversations.get(channel)?.latest === ts) tracked.latestDeleted = stamp;
	}

	setThreads(event: Wire): void {
		// Not by position, which follows the clock of a gateway.
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
 * Both parts count. The user's alone may go back a little when a lost Redis is restored, that of the conversations when the
 * user leaves one: then the other part has changed as well, or the totals have not.
 */
const isOlderVersion = (version = '', known = ''): boolean =>
	version !== known &&
	stampOf(version) <= stampOf(known) &&
	version.slice(STAMP_DIGITS) <= known.slice(STAMP_DIGITS);

/** A message before this one never arrived, or the newest one is missing. */
function isGap(latest: string, prevTs: string, mayBeDeleted: boolean): boolean {
	return prevTs > latest || (prevTs < latest && !mayBeDeleted);
}

function strip({ position: _, ...counts }: ReceivedCounts) {
	return counts;
}
