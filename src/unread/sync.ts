import type { Changes, InsideChanges, InsideQuery, OwnChanges } from '../engine/ports/changes.ts';
import type { SnapshotQuery, UserSnapshot } from '../engine/ports/read-state.ts';
import type { Directory, History, ThreadInfo } from '../engine/ports/store.ts';
import { threadKey } from '../model/ids.ts';
import { bytesOf, type Message } from '../model/message.ts';
import type { LiveEvent } from '../protocol/live-event.ts';
import type { ThreadSummary } from '../sequencer/effects.ts';
import { missedEvents, upperBoundOf } from './missed-events.ts';
import type { ReadState } from './read-state.ts';

/**
 * Finds what a client missed since a position. On one machine the result is exact: it contains everything up to the stamp in the
 * answer and nothing later, so the result and live delivery after that stamp have neither gap nor overlap. In a cluster the
 * result may also contain later changes, and `SentEvents` drops live events that it already contains.
 *
 * A row that changed again after that stamp may no longer show the earlier change. Live delivery covers the later one, so the client
 * must already be subscribed, or ask again from that stamp.
 */

export interface SyncParts {
	readonly readState: ReadState;
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
	readonly stamp: number;
	/** The client's new position, see `UserSnapshot.position`. */
	readonly position: number;
	/** Live events with a later stamp are still to be sent. */
	readonly completeUpTo: number;
	/**
	 * Conversations whose counts the client cannot derive from these events. For a client that receives pushed counts, also those whose
	 * counts it cannot derive from the events of the last seconds before its position.
	 */
	readonly recount: readonly string[];
	/** Whether followed threads changed; for a client that receives pushed counts, also in the last seconds before its position. */
	readonly threads: boolean;
}

export type SyncResult =
	| Missed
	| { readonly tooFarBehind: true; readonly stamp: number; readonly position: number };

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

	/** The stamp after which a client at this position may lack changes. */
	sinceOf(position: number): number {
		return this.parts.readState.sinceOf(position);
	}

	/**
	 * `from`: the stamp after which the client may lack changes, see `sinceOf`. `pushed`: the client receives pushed counts, so those of the
	 * last seconds, which it may not have received, are sent as well.
	 */
	async missed(user: string, from: number, pushed = false): Promise<SyncResult> {
		const { mostChanges } = this.parts;
		const { own, snapshot, since } = await this.consistentSnapshot(user, from);
		const { stamp, position, horizon } = snapshot;
		const left = mostChanges - sizeOf(own, since);
		// A stamp in the future is not from this history.
		if (from > stamp || left < 0) return { tooFarBehind: true, stamp, position };
		// Compare `from`, not `since`. `since` reaches further back only to find changes whose stamp is before `from` but that became
		// visible after it.
		if (from < horizon) return { tooFarBehind: true, stamp, position };
		const request = { user, since, own, snapshot, pushed, left };
		const small = await this.collect(request, SMALL_BYTES);
		const missed = small ?? (await this.parts.inTurn(user, () => this.collect(request, MAX_BYTES)));
		return missed ?? { tooFarBehind: true, stamp, position };
	}

	/** Null: larger than `mostBytes`. */
	private async collect(request: SyncRequest, mostBytes: number): Promise<Missed | null> {
		const { user, since, own, snapshot, pushed, left } = request;
		const { stamp, position, visibleUpTo } = snapshot;
		const inside = await this.insideOf(user, { since, upTo: upperBoundOf(snapshot) }, snapshot, {
			changes: left,
			bytes: mostBytes,
		});
		if (!inside) return null;
		const unpushed = pushed ? await this.unpushedCounts(user, since, own, snapshot) : NOTHING_UNPUSHED;
		const recount = [...needRecount(inside, user), ...unpushed.rows];
		const [conversations, threads] = await Promise.all([
			this.conversationsOf(own, inside, recount),
			this.threadsOf(inside, mostBytes),
		]);
		if (!threads) return null;
		const missed = missedEvents({ user, since, snapshot, own, inside, conversations, threads });
		const events = missed.map(({ event }) => event);
		const frames = encoded(events, mostBytes);
		return (
			frames && {
				events,
				frames,
				inside: missed.filter(({ isOwn }) => !isOwn).map(({ event }) => event),
				stamp,
				position,
				completeUpTo: visibleUpTo,
				// Archived conversations have no counts.
				recount: recount.filter((id) => conversations.get(id)?.archived === false),
				threads: unpushed.threads || touchesThreads(ownAfter(own, since), inside),
			}
		);
	}

	private async unpushedCounts(
		user: string,
		since: number,
		own: OwnChanges,
		snapshot: UserSnapshot,
	): Promise<{ readonly rows: readonly string[]; readonly threads: boolean }> {
		const between = { since: since - PUSHED_WITHIN_MICROS, upTo: since };
		const most = { changes: MAX_JUST_BEFORE, bytes: SMALL_BYTES };
		const inside = await this.insideOf(user, between, snapshot, most);
		if (!inside) return { rows: snapshot.changed, threads: true };
		return {
			rows: [...needRecount(inside, user), ...joinedBefore(own, since)],
			threads: touchesThreads(own, inside),
		};
	}

	private insideOf(
		user: string,
		between: { readonly since: number; readonly upTo: number },
		snapshot: UserSnapshot,
		most: InsideQuery['most'],
	): Promise<InsideChanges | null> {
		return this.parts.changes.inside({ user, ...between, conversations: snapshot.changed, most });
	}

	/** A snapshot, with the changes of the user's own state from a little before `from` up to the snapshot. */
	private async consistentSnapshot(
		user: string,
		from: number,
	): Promise<{ readonly own: OwnChanges; readonly snapshot: UserSnapshot; readonly since: number }> {
		const { readState, changes, mostChanges } = this.parts;
		// Only the store tells which rows the snapshot needs, and it is read after the snapshot. So the snapshot is read again with these
		// rows, and once more whenever the user marked another conversation in between.
		for (let rows = NO_ROWS; ; ) {
			const snapshot = await readState.snapshot(user, {
				since: from - PUSHED_WITHIN_MICROS,
				...rows,
			});
			const since = Math.max(0, from - snapshot.lateness);
			const ownFrom = since - PUSHED_WITHIN_MICROS;
			if (snapshot.ownStamp <= ownFrom) return { own: NOTHING_OWN, snapshot, since };
			const own = await changes.own(user, ownFrom);
			const wanted = rowsOf(own, since, upperBoundOf(snapshot));
			if (covers(rows, wanted) || sizeOf(own, since) > mostChanges) return { own, snapshot, since };
			rows = rowsOf(own, since, Number.MAX_SAFE_INTEGER);
		}
	}

	private async conversationsOf(own: OwnChanges, inside: InsideChanges, others: readonly string[]) {
		const ids = new Set(others);
		for (const { conversation } of own.memberships) ids.add(conversation);
		for (const { message } of inside.posted) ids.add(message.conversation);
		for (const { conversation } of [
			...inside.changed,
			...inside.aspects,
			...inside.reactions,
			...inside.pins,
		])
			ids.add(conversation);
		const found = await this.parts.directory.conversations([...ids]);
		return new Map(found.map((conversation) => [conversation.id, conversation]));
	}

	/** Threads of these replies, and of edited or deleted roots. */
	private async threadsOf(
		inside: InsideChanges,
		mostBytes: number,
	): Promise<Map<string, ThreadSummary> | null> {
		const { history } = this.parts;
		const roots = new Map<string, Set<number>>();
		const need = (conversation: string, root: number): void => {
			const known = roots.get(conversation) ?? new Set<number>();
			roots.set(conversation, known.add(root));
		};
		for (const { message } of inside.posted) {
			const root = message.threadTs ?? (message.deleted ? message.ts : null);
			if (root !== null) need(message.conversation, root);
		}
		// An edited root also shows its thread.
		for (const message of inside.changed) need(message.conversation, message.threadTs ?? message.ts);
		const threads = new Map<string, ThreadSummary>();
		let room = mostBytes;
		for (const [conversation, wanted] of roots) {
			const messages = await history.messages(conversation, [...wanted], {
				nearest: 'oldest',
				mostBytes: room,
			});
			for (const message of messages) room -= bytesOf(message);
			if (room <= 0) return null;
			const infos = await history.threads(conversation, [...wanted]);
			const infoOf = new Map(infos.map((info) => [info.threadTs, info]));
			for (const root of messages)
				threads.set(threadKey(conversation, root.ts), summaryOf(root, infoOf.get(root.ts)));
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

function sizeOf({ memberships, follows }: OwnChanges, since: number): number {
	const marks = memberships.filter(({ changedTs, preferredTs }) => Math.max(changedTs, preferredTs) > since);
	return marks.length + follows.filter(({ changedTs }) => changedTs > since).length;
}

/** Without changes up to `since`. */
const ownAfter = ({ memberships, follows }: OwnChanges, since: number): OwnChanges => ({
	memberships: memberships.filter(({ changedTs }) => changedTs > since),
	follows: follows.filter((follow) => Math.max(follow.since, follow.changedTs) > since),
});

/** The request, and what is known before messages are read. */
interface SyncRequest {
	readonly user: string;
	readonly since: number;
	readonly own: OwnChanges;
	readonly snapshot: UserSnapshot;
	readonly pushed: boolean;
	/** How many changes can still be sent. */
	readonly left: number;
}

type Rows = Pick<SnapshotQuery, 'rows' | 'threads'>;

const NO_ROWS: Rows = { rows: [], threads: [] };
const NOTHING_UNPUSHED = { rows: [], threads: false } as const;
const NOTHING_OWN: OwnChanges = { memberships: [], follows: [] };

/** Rows whose counts the events need. */
function rowsOf({ memberships, follows }: OwnChanges, since: number, upTo: number): Rows {
	const isMissed = (at: number): boolean => at > since && at <= upTo;
	return {
		rows: memberships
			.filter(({ member }) => member)
			.filter(({ joinedTs, changedTs, preferredTs }) => [joinedTs, changedTs, preferredTs].some(isMissed))
			.map(({ conversation }) => conversation),
		threads: follows.filter(
			({ active, since: began, changedTs }) => active && [began, changedTs].some(isMissed),
		),
	};
}

function covers(asked: Rows, wanted: Rows): boolean {
	const rows = new Set(asked.rows);
	const threads = new Set(
		asked.threads.map(({ conversation, threadTs }) => threadKey(conversation, threadTs)),
	);
	return (
		wanted.rows.every((conversation) => rows.has(conversation)) &&
		wanted.threads.every(({ conversation, threadTs }) => threads.has(threadKey(conversation, threadTs)))
	);
}

const NO_REPLIES = { replyCount: 0, latestReply: 0, replyUsers: [], replyUsersCount: 0 } as const;

function summaryOf(root: Message, info: ThreadInfo | undefined): ThreadSummary {
	const { replyCount, latestReply, replyUsers, replyUsersCount } = info ?? NO_REPLIES;
	return { root, replyCount, latestReply, replyUsers, replyUsersCount };
}

/** Leaving ends follows for good; archiving stops them from counting until the conversation is unarchived. */
function touchesThreads(
	{ memberships, follows }: OwnChanges,
	{ posted, changed, aspects }: InsideChanges,
): boolean {
	return (
		follows.length > 0 ||
		memberships.some(({ member }) => !member) ||
		posted.some(({ message }) => message.threadTs !== null) ||
		changed.some(({ threadTs }) => threadTs !== null) ||
		aspects.some(({ aspect }) => aspect === 'archive')
	);
}

const joinedBefore = ({ memberships }: OwnChanges, since: number): string[] =>
	memberships
		.filter(({ member, joinedTs }) => member && joinedTs > since - PUSHED_WITHIN_MICROS && joinedTs <= since)
		.map(({ conversation }) => conversation);

/**
 * Conversations whose counts a client cannot derive from events: it does not know whom a `<!here>` mentioned, what an edit or
 * delete did to messages read ahead, or what archiving removed; and the user's own posts move the user's cursor after the event.
 */
function needRecount({ posted, changed, aspects }: InsideChanges, user: string): string[] {
	const conversations = new Set<string>();
	for (const { message } of posted) if (message.user === user) conversations.add(message.conversation);
	// The client may have an older version of an edited message: docs/resuming.md.
	for (const { message } of posted)
		if (message.here || message.changedTs > message.ts) conversations.add(message.conversation);
	for (const { conversation } of changed) conversations.add(conversation);
	for (const { aspect, conversation } of aspects) if (aspect === 'archive') conversations.add(conversation);
	return [...conversations];
}
