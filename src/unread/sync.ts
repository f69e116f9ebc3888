import type { Changes, InsideChanges, InsideQuery, OwnChanges } from '../engine/ports/changes.ts';
import type { SnapshotQuery, UserSnapshot } from '../engine/ports/read-state.ts';
import type { Directory, History, ThreadInfo } from '../engine/ports/store.ts';
import { bytesOf, type Message } from '../model/message.ts';
import type { LiveEvent } from '../protocol/live-event.ts';
import type { ThreadSummary } from '../sequencer/effects.ts';
import { completeUpTo, missedEvents, threadKey } from './missed-events.ts';
import type { ReadState } from './read-state.ts';

/**
 * What a client missed since a position. Exact at one moment: everything up to the stamp that is answered is
 * in it, and nothing later, so that it and live delivery from there on have neither gap nor overlap.
 *
 * What was changed again after that moment, so that its row no longer shows how it was, is left to live
 * delivery: the client has to be subscribed already, or to ask again from the stamp on.
 */

export interface SyncParts {
	readonly readState: ReadState;
	readonly changes: Changes;
	readonly directory: Directory;
	readonly history: History;
	/** A client that missed more than this reloads everything. */
	readonly mostChanges: number;
	/** For reads that take much memory: a few at a time, of each user one. */
	readonly inTurn: <T>(user: string, read: () => Promise<T>) => Promise<T>;
}

export interface Missed {
	readonly events: readonly LiveEvent[];
	/** The same as JSON, 4 MB at most. */
	readonly frames: readonly string[];
	/** Of these, those that live delivery sends to all members of a conversation, not to the user alone. */
	readonly inside: readonly LiveEvent[];
	readonly stamp: number;
	/** For the client: see `Moment.position`. */
	readonly position: number;
	/** Live events with a later stamp are still to be sent. */
	readonly completeUpTo: number;
	/** Where counts changed in a way that a client cannot derive from the events, or had just before. */
	readonly recount: readonly string[];
	/** What the user follows changed as well, or, for a client that is pushed counts, had just before. */
	readonly threads: boolean;
}

export type SyncResult =
	| Missed
	| { readonly tooFarBehind: true; readonly stamp: number; readonly position: number };

/** Of all texts together, and of all events as JSON. */
const MOST_BYTES = 4_000_000;
/** Reads up to this size do not wait for a turn. */
const SMALL_BYTES = 256 * 1024;

/**
 * Counts are pushed a moment after the event that changed them. A client that was cut off in between has the
 * event's position without them: those of so long before it are due again.
 */
const PUSHED_WITHIN_MICROS = 10_000_000;
/** Beyond so many changes in that time, counts are due wherever anything changed. */
const MOST_JUST_BEFORE = 500;

export class Sync {
	constructor(private readonly parts: SyncParts) {}

	/** The stamp after which everything may be unknown to a client that is at this position. */
	sinceOf(position: number): number {
		return this.parts.readState.sinceOf(position);
	}

	/** With `pushed`, for a client that is pushed counts: says of which they are due. */
	async missed(user: string, asked: number, pushed = false): Promise<SyncResult> {
		const { mostChanges } = this.parts;
		const { own, snapshot, since } = await this.oneSnapshot(user, asked);
		const { stamp, position, horizon } = snapshot;
		const left = mostChanges - sizeOf(own, since);
		// A position from the future is not of this history.
		if (asked > stamp || left < 0) return { tooFarBehind: true, stamp, position };
		// By the client's own position: what lies before that and came late came after it, and is known.
		if (asked < horizon) return { tooFarBehind: true, stamp, position };
		const request = { user, since, own, snapshot, pushed, left };
		const small = await this.collect(request, SMALL_BYTES);
		const missed = small ?? (await this.parts.inTurn(user, () => this.collect(request, MOST_BYTES)));
		return missed ?? { tooFarBehind: true, stamp, position };
	}

	/** Null where it is more than so many bytes. */
	private async collect(request: SyncRequest, mostBytes: number): Promise<Missed | null> {
		const { user, since, own, snapshot, pushed, left } = request;
		const { stamp, position, settled } = snapshot;
		const inside = await this.insideOf(user, { since, upTo: completeUpTo(snapshot) }, snapshot, {
			changes: left,
			bytes: mostBytes,
		});
		if (!inside) return null;
		const unsure = pushed ? await this.pushedJustBefore(user, since, own, snapshot) : NOTHING_UNSURE;
		const recount = [...underivable(inside, user), ...unsure.rows];
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
				completeUpTo: settled,
				// What is archived counts no more.
				recount: recount.filter((id) => conversations.get(id)?.archived === false),
				threads: unsure.threads || touchesThreads(ownAfter(own, since), inside),
			}
		);
	}

	private async pushedJustBefore(
		user: string,
		since: number,
		own: OwnChanges,
		snapshot: UserSnapshot,
	): Promise<{ readonly rows: readonly string[]; readonly threads: boolean }> {
		const between = { since: since - PUSHED_WITHIN_MICROS, upTo: since };
		const most = { changes: MOST_JUST_BEFORE, bytes: SMALL_BYTES };
		const inside = await this.insideOf(user, between, snapshot, most);
		if (!inside) return { rows: snapshot.changed, threads: true };
		return {
			rows: [...underivable(inside, user), ...joinedBefore(own, since)],
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

	/** A moment together with everything of the user's own that changed up to it, that of just before included. */
	private async oneSnapshot(
		user: string,
		asked: number,
	): Promise<{ readonly own: OwnChanges; readonly snapshot: UserSnapshot; readonly since: number }> {
		const { readState, changes, mostChanges } = this.parts;
		// What to ask the rows of is known from the store, which trails the moment: another round is due when
		// there is anything, and when the user marked one more conversation in between.
		for (let rows = NO_ROWS; ; ) {
			const snapshot = await readState.snapshot(user, { since: asked - PUSHED_WITHIN_MICROS, ...rows });
			const since = Math.max(0, asked - snapshot.lateness);
			const from = since - PUSHED_WITHIN_MICROS;
			if (snapshot.ownStamp <= from) return { own: NOTHING_OWN, snapshot, since };
			const own = await changes.own(user, from);
			const wanted = rowsOf(own, since, completeUpTo(snapshot));
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

	/** The threads that these messages are replies of, or roots that left a tombstone. */
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
		// A root that was edited shows its thread as well.
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

/** Without what is known of just before. */
const ownAfter = ({ memberships, follows }: OwnChanges, since: number): OwnChanges => ({
	memberships: memberships.filter(({ changedTs }) => changedTs > since),
	follows: follows.filter((follow) => Math.max(follow.since, follow.changedTs) > since),
});

/** What is asked, and what is known of it before messages are read. */
interface SyncRequest {
	readonly user: string;
	readonly since: number;
	readonly own: OwnChanges;
	readonly snapshot: UserSnapshot;
	readonly pushed: boolean;
	/** Changes that may still be sent. */
	readonly left: number;
}

type Rows = Pick<SnapshotQuery, 'rows' | 'threads'>;

const NO_ROWS: Rows = { rows: [], threads: [] };
const NOTHING_UNSURE = { rows: [], threads: false } as const;
const NOTHING_OWN: OwnChanges = { memberships: [], follows: [] };

/** What is to be sent with its counts. */
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

/** Leaving and archiving end following, coming back starts it again. */
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
 * Who a `<!here>` meant, what an edit or a delete did to what was read ahead, what archiving removed; and of posts of this
 * author, whom they move later than they are counted.
 */
function underivable({ posted, changed, aspects }: InsideChanges, author: string): string[] {
	const conversations = new Set<string>();
	for (const { message } of posted) if (message.user === author) conversations.add(message.conversation);
	// One that was edited may be known to the client as it was: docs/resuming.md.
	for (const { message } of posted)
		if (message.here || message.changedTs > message.ts) conversations.add(message.conversation);
	for (const { conversation } of changed) conversations.add(conversation);
	for (const { aspect, conversation } of aspects) if (aspect === 'archive') conversations.add(conversation);
	return [...conversations];
}
