import type { Changes, InsideChanges, OwnChanges } from '../engine/ports/changes.ts';
import type { Directory, History } from '../engine/ports/store.ts';
import type { Views } from '../engine/ports/views.ts';
import { threadKey } from '../model/ids.ts';
import { bytesOf } from '../model/message.ts';
import type { LiveEvent } from '../protocol/live-event.ts';
import { rootsOf, summariesOf } from '../protocol/stored-events.ts';
import type { ThreadSummary } from '../sequencer/effects.ts';
import { missedEvents, type Threads } from './missed-events.ts';
import { sizeOf, snapshotSince, type UserSnapshot } from './snapshots.ts';

/**
 * Finds what a client missed since a position. On one machine the result is exact: it contains everything up to the stamp in the
 * answer and nothing later, so the result and live delivery after that stamp have neither gap nor overlap. In a cluster the
 * result may also contain later changes, and `SentEvents` drops live events that it already contains.
 *
 * A row of the store that changed again after that stamp may no longer show the earlier change. Live delivery covers the later one, so
 * the client must already be subscribed, or ask again from that stamp.
 */

export interface SyncParts {
	readonly views: Views;
	readonly changes: Changes;
	readonly directory: Directory;
	readonly history: History;
	/** A client that missed more than this reloads everything. */
	readonly mostChanges: number;
	/** Runs reads that need much memory: a few at a time, and one per user. */
	readonly inTurn: <T>(user: string, read: () => Promise<T>) => Promise<T>;
}

export interface Missed {
	readonly events: readonly LiveEvent[];
	/** The events as JSON, at most 4 MB. */
	readonly frames: readonly string[];
	/** Those events that live delivery sends to all members of a conversation, not only to this user. */
	readonly inside: readonly LiveEvent[];
	/** The client's new position, see `UserSnapshot.position`. */
	readonly position: number;
	/** Live events with a later stamp are still to be sent. */
	readonly completeUpTo: number;
	/**
	 * Conversations whose counts the client cannot derive from these events. For a client that receives pushed
	 * counts, also conversations that changed in the last seconds before its position: it may have an event
	 * without the counts that were pushed after it.
	 */
	readonly recount: readonly string[];
	/** Whether totals of followed threads may have changed; for a client that receives pushed counts, also shortly before its position. */
	readonly recountThreads: boolean;
}

export type SyncResult = Missed | { readonly tooFarBehind: true; readonly position: number };

/** Limit for all texts, and for all events as JSON. */
const MAX_BYTES = 4_000_000;
/** Reads up to this size do not queue for `inTurn`. */
const SMALL_BYTES = 256 * 1024;

/**
 * Counts are pushed a moment after the event that changed them. A client that disconnected in between has the
 * event but not the counts, so counts that changed within this time before its position are sent again.
 */
const PUSHED_WITHIN_MICROS = 10_000_000;
/** With more changes in that time, the counts of all changed conversations are sent. */
const MAX_JUST_BEFORE = 500;

export class Sync {
	constructor(private readonly parts: SyncParts) {}

	/**
	 * `from`: the stamp after which the client may lack changes, see `Views.since`. `wantsCounts`: the client receives pushed counts, so
	 * those of the last seconds, which it may not have received, are sent as well. `isWanted`: false once nobody waits for the answer;
	 * then a read that still waits for its turn is skipped, and the answer has no meaning.
	 */
	async missed(user: string, from: number, wantsCounts = false, isWanted = () => true): Promise<SyncResult> {
		const { inTurn, mostChanges } = this.parts;
		const snapshot = await snapshotSince(this.parts, user, from, wantsCounts ? PUSHED_WITHIN_MICROS : 0);
		const { stamp, position, horizon, own } = snapshot;
		const tooFarBehind = { tooFarBehind: true, position } as const;
		// A stamp in the future is not from this history. Compare `from`, not `since`: `since` reaches further back only to find changes
		// whose stamp is before `from` but that became visible after it.
		const isInHistory = from <= stamp && from >= horizon;
		if (!isInHistory || sizeOf(own) > mostChanges) return tooFarBehind;
		const collect = (mostBytes: number) => this.collect(user, snapshot, wantsCounts, mostBytes);
		const collectAll = async () => (isWanted() ? collect(MAX_BYTES) : null);
		return (await collect(SMALL_BYTES)) ?? (await inTurn(user, collectAll)) ?? tooFarBehind;
	}

	/** Null: larger than `mostBytes`. */
	private async collect(
		user: string,
		snapshot: UserSnapshot,
		wantsCounts: boolean,
		mostBytes: number,
	): Promise<Missed | null> {
		const { since, upTo, own, conversations: changed } = snapshot;
		const most = { changes: this.parts.mostChanges - sizeOf(own), bytes: mostBytes };
		const inside = await this.parts.changes.inside({ user, since, upTo, conversations: changed, most });
		if (!inside) return null;
		const recounts = [recountAfter(user, own, inside)];
		if (wantsCounts) recounts.push(await this.unpushed(user, snapshot));
		const recount = recounts.flatMap((one) => one.recount);
		const messages = [...inside.posted.map(({ message }) => message), ...inside.changed];
		const shown = [...own.memberships, ...messages, ...inside.aspects];
		const ids = new Set([...recount, ...shown.map(({ conversation }) => conversation)]);
		const [found, threads] = await Promise.all([
			this.parts.directory.conversations([...ids]),
			this.threadsOf(inside, mostBytes),
		]);
		if (!threads) return null;
		const conversations = new Map(found.map((conversation) => [conversation.id, conversation]));
		const missed = missedEvents({ user, snapshot, inside, conversations, threads });
		const events = missed.map(({ event }) => event);
		const frames = encoded(events, mostBytes);
		if (!frames) return null;
		return {
			events,
			frames,
			inside: missed.filter(({ isOwn }) => !isOwn).map(({ event }) => event),
			position: snapshot.position,
			completeUpTo: snapshot.visibleUpTo,
			// Archived conversations have no counts.
			recount: recount.filter((id) => conversations.get(id)?.archived === false),
			recountThreads: recounts.some((one) => one.recountThreads),
		};
	}

	private async unpushed(
		user: string,
		{ since, recentOwn, recentConversations: conversations }: UserSnapshot,
	): Promise<Recount> {
		const earliest = since - PUSHED_WITHIN_MICROS;
		const most = { changes: MAX_JUST_BEFORE, bytes: SMALL_BYTES };
		const query = { user, since: earliest, upTo: since, conversations, most };
		const inside = await this.parts.changes.inside(query);
		if (!inside) return { recount: conversations, recountThreads: true };
		const { recount, recountThreads } = recountAfter(user, recentOwn, inside);
		const joined = recentOwn.memberships.filter(
			({ member, joinedTs }) => member && joinedTs > earliest && joinedTs <= since,
		);
		return { recount: [...recount, ...joined.map(({ conversation }) => conversation)], recountThreads };
	}

	/** Null: larger than `mostBytes`. */
	private async threadsOf(inside: InsideChanges, mostBytes: number): Promise<Threads | null> {
		const { history } = this.parts;
		const threads = new Map<string, ThreadSummary>();
		let room = mostBytes;
		for (const [conversation, tss] of rootsOf(inside)) {
			const roots = await history.messages(conversation, [...tss], { nearest: 'oldest', mostBytes: room });
			for (const root of roots) room -= bytesOf(root);
			if (room <= 0) return null;
			for (const thread of summariesOf(roots, await history.threads(conversation, [...tss])))
				threads.set(threadKey(conversation, thread.root.ts), thread);
		}
		return threads;
	}
}

function encoded(events: readonly LiveEvent[], mostBytes: number): string[] | null {
	const frames: string[] = [];
	let bytes = 0;
	for (const { wire } of events) {
		const frame = JSON.stringify(wire);
		bytes += Buffer.byteLength(frame);
		if (bytes > mostBytes) return null;
		frames.push(frame);
	}
	return frames;
}

/** Counts that a client cannot derive from events: of these conversations, and of followed threads. */
type Recount = Pick<Missed, 'recount' | 'recountThreads'>;

/**
 * A client does not know whom a `<!here>` mentioned, what an edit or delete did to messages read ahead, or what archiving removed; and
 * the user's own posts move the user's cursor after the event. The client may have an older version of an edited message: docs/resuming.md.
 * Leaving ends follows for good; archiving stops them from counting until the conversation is unarchived.
 */
function recountAfter(user: string, own: OwnChanges, inside: InsideChanges): Recount {
	const posted = inside.posted.map(({ message }) => message);
	const archived = inside.aspects.filter(({ aspect }) => aspect === 'archive');
	const recounted = posted.filter(
		(message) => message.user === user || message.here || message.changedTs > message.ts,
	);
	return {
		recount: [...recounted, ...inside.changed, ...archived].map(({ conversation }) => conversation),
		recountThreads:
			own.follows.length > 0 ||
			own.memberships.some(({ member }) => !member) ||
			[...posted, ...inside.changed].some(({ threadTs }) => threadTs !== null) ||
			archived.length > 0,
	};
}
