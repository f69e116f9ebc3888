import type { InsideChanges, OwnChanges } from '../engine/ports/changes.ts';
import type { UserSnapshot } from '../engine/ports/read-state.ts';
import type { Conversation } from '../model/conversation.ts';
import { threadKey } from '../model/ids.ts';
import { inTimeline, type Message } from '../model/message.ts';
import { type Changed, changedEvent, joinedEvent, leftEvent } from '../protocol/conversation-events.ts';
import {
	markedEvent,
	preferenceEvent,
	threadMarkedEvent,
	threadSubscribedEvent,
	threadUnsubscribedEvent,
} from '../protocol/events.ts';
import { fileDeletions, sharedEvents } from '../protocol/file-events.ts';
import type { LiveEvent } from '../protocol/live-event.ts';
import { deletedEvent, editedEvent, messageEvent, repliedEvent } from '../protocol/message-events.ts';
import { pinEvent } from '../protocol/pin-events.ts';
import { reactionEvent } from '../protocol/reaction-events.ts';
import type { ThreadSummary } from '../sequencer/effects.ts';

/**
 * Rebuilds, from rows of the store, the events that a resuming client missed: the same events that live delivery sends. They are in the
 * order of their stamps, with two exceptions. Marks carry current counts, so they follow the messages that they count. Archiving comes
 * last, because archived conversations stop counting.
 */

export interface MissedChanges {
	readonly user: string;
	/** Exclusive lower bound; `upperBoundOf` gives the upper one. */
	readonly since: number;
	readonly snapshot: UserSnapshot;
	readonly own: OwnChanges;
	readonly inside: InsideChanges;
	readonly conversations: ReadonlyMap<string, Conversation>;
	/** By `threadKey`: threads of replies, and of edited or deleted roots. */
	readonly threads: ReadonlyMap<string, ThreadSummary>;
}

interface TimedEvent {
	readonly at: number;
	readonly event: LiveEvent;
}

export interface MissedEvent extends TimedEvent {
	/** Only about this user. Live delivery publishes it on the user's topic, not on that of a conversation. */
	readonly isOwn: boolean;
}

const asOwn = (events: readonly TimedEvent[]): MissedEvent[] =>
	events.map((one) => ({ ...one, isOwn: true }));
const asShared = (events: readonly TimedEvent[]): MissedEvent[] =>
	events.map((one) => ({ ...one, isOwn: false }));
const inOrder = (events: readonly MissedEvent[]): MissedEvent[] => [...events].sort((a, b) => a.at - b.at);

export function missedEvents(found: MissedChanges): MissedEvent[] {
	// Events with the same stamp come in the order of live delivery: message, thread, followers.
	const happened = [
		...asOwn(ownMemberships(found)),
		...asShared(messages(found)),
		...asShared(threads(found)),
		...asShared(files(found)),
		...asShared(reactions(found)),
		...asShared(pins(found)),
		...asShared(aspects(found, (what) => what !== 'archive')),
		...asOwn(follows(found)),
	];
	const archived = aspects(found, (what) => what === 'archive');
	return [...inOrder(happened), ...inOrder(asOwn(readPositions(found))), ...inOrder(asShared(archived))];
}

/** Later changes arrive live. In a cluster there is no upper bound: everything found is sent. */
export const upperBoundOf = ({ visibleUpTo }: UserSnapshot): number => visibleUpTo || Number.MAX_SAFE_INTEGER;

const isMissed = ({ since, snapshot }: MissedChanges, at: number): boolean =>
	at > since && at <= upperBoundOf(snapshot);

function ownMemberships(found: MissedChanges): TimedEvent[] {
	const { user, own, snapshot, conversations, inside } = found;
	const rows = new Map(snapshot.rows.map((row) => [row.conversation, row]));
	const latest = latestBefore(inside);
	return own.memberships.flatMap(({ conversation: id, member, joinedTs, changedTs }): TimedEvent[] => {
		const conversation = conversations.get(id);
		if (!conversation) return [];
		if (!member)
			return isMissed(found, changedTs) ? [{ at: changedTs, event: leftEvent(conversation, changedTs) }] : [];
		const row = rows.get(id);
		if (!row || !isMissed(found, joinedTs)) return [];
		const start = { cursor: row.lastRead, latest: latest.get(id) ?? row.latest };
		return [{ at: joinedTs, event: joinedEvent(conversation, user, start, joinedTs) }];
	});
}

/** The newest ts in each timeline before the missed messages. */
function latestBefore({ posted }: InsideChanges): ReadonlyMap<string, number> {
	const latest = new Map<string, number>();
	for (const { message, prevTs } of posted) {
		if (!inTimeline(message)) continue;
		latest.set(message.conversation, Math.min(latest.get(message.conversation) ?? prevTs, prevTs));
	}
	return latest;
}

function messages({ inside, conversations, threads }: MissedChanges): TimedEvent[] {
	const events: TimedEvent[] = [];
	for (const { message, prevTs } of inside.posted) {
		const conversation = conversations.get(message.conversation);
		if (!conversation) continue;
		const thread =
			message.threadTs === null ? null : (threads.get(threadKey(conversation.id, message.threadTs)) ?? null);
		events.push({ at: message.ts, event: messageEvent({ conversation, message, prevTs, thread }) });
	}
	for (const message of inside.changed) {
		const conversation = conversations.get(message.conversation);
		if (!conversation) continue;
		const thread = threads.get(threadKey(conversation.id, message.threadTs ?? message.ts)) ?? null;
		const hasReplies = message.threadTs === null && (thread?.replyCount ?? 0) > 0;
		const event = message.deleted
			? deletedEvent(conversation, message, hasReplies)
			: editedEvent(conversation, message, undefined, thread);
		events.push({ at: message.changedTs, event });
	}
	return events;
}

/** One event per thread with its current summary, stamped with the newest change of its replies. */
function threads({ inside, conversations, threads: summaries }: MissedChanges): TimedEvent[] {
	const newest = new Map<string, number>();
	const touch = (conversation: string, threadTs: number | null, at: number): void => {
		if (threadTs === null) return;
		const key = threadKey(conversation, threadTs);
		newest.set(key, Math.max(newest.get(key) ?? 0, at));
	};
	for (const { message } of inside.posted) touch(message.conversation, message.threadTs, message.ts);
	for (const message of inside.changed)
		if (message.deleted) touch(message.conversation, message.threadTs, message.changedTs);
	return [...newest].flatMap(([key, at]): TimedEvent[] => {
		const thread = summaries.get(key);
		const conversation = thread && conversations.get(thread.root.conversation);
		return thread && conversation ? [{ at, event: repliedEvent(conversation, thread, at) }] : [];
	});
}

function files(found: MissedChanges): TimedEvent[] {
	const { inside, conversations } = found;
	const isKnown = ({ conversation }: Message): boolean => conversations.has(conversation);
	const posted = inside.posted.map(({ message }) => message).filter(isKnown);
	const changed = inside.changed.filter((message) => isKnown(message) && !message.deleted);
	return [
		...posted.flatMap((message) => sharedEvents(message).map((event) => ({ at: message.ts, event }))),
		...[...posted, ...changed].flatMap(fileDeletions).filter(({ at }) => isMissed(found, at)),
	];
}

function reactions({ inside, conversations }: MissedChanges): TimedEvent[] {
	return inside.reactions
		.filter(({ conversation }) => conversations.has(conversation))
		.map((change) => ({ at: change.at, event: reactionEvent({ ...change, channel: change.conversation }) }));
}

function pins({ inside, conversations }: MissedChanges): TimedEvent[] {
	return inside.pins
		.filter(({ conversation }) => conversations.has(conversation))
		.map((change) => ({ at: change.at, event: pinEvent({ ...change, channel: change.conversation }) }));
}

function aspects(
	{ inside, conversations }: MissedChanges,
	wanted: (what: Changed['what']) => boolean,
): TimedEvent[] {
	return inside.aspects.flatMap(({ conversation: id, aspect, at, actor }): TimedEvent[] => {
		const conversation = conversations.get(id);
		if (!conversation) return [];
		const what = aspect === 'archive' && !conversation.archived ? 'unarchive' : aspect;
		return wanted(what) ? [{ at, event: changedEvent({ conversation, what, actor, at }) }] : [];
	});
}

function follows(found: MissedChanges): TimedEvent[] {
	const { own, snapshot } = found;
	const rows = new Map(snapshot.threads.map((row) => [threadKey(row.conversation, row.threadTs), row]));
	// `changed` has only conversations that the user is still in: after leaving one, no unfollow events follow.
	const current = new Set(snapshot.changed);
	return own.follows.flatMap(({ conversation, threadTs, active, since: at }): TimedEvent[] => {
		if (!isMissed(found, at)) return [];
		if (!active) {
			const ended = { conversation, threadTs, since: at, lastRead: 0 };
			return current.has(conversation) ? [{ at, event: threadUnsubscribedEvent(ended, at) }] : [];
		}
		const row = rows.get(threadKey(conversation, threadTs));
		return row ? [{ at, event: threadSubscribedEvent(row, at) }] : [];
	});
}

function readPositions(found: MissedChanges): TimedEvent[] {
	const { own, snapshot } = found;
	const memberships = new Map(own.memberships.map((membership) => [membership.conversation, membership]));
	const marks = snapshot.rows.flatMap((row): TimedEvent[] => {
		const membership = memberships.get(row.conversation);
		if (!membership) return [];
		const { changedTs, preferredTs } = membership;
		return [
			...(isMissed(found, changedTs) ? [{ at: changedTs, event: markedEvent(row) }] : []),
			...(isMissed(found, preferredTs) ? [{ at: preferredTs, event: preferenceEvent(row) }] : []),
		];
	});
	const followed = new Map(
		own.follows.map((follow) => [threadKey(follow.conversation, follow.threadTs), follow]),
	);
	const threadMarks = snapshot.threads.flatMap((row): TimedEvent[] => {
		const follow = followed.get(threadKey(row.conversation, row.threadTs));
		const moved = follow && follow.changedTs > follow.since && isMissed(found, follow.changedTs);
		return moved ? [{ at: follow.changedTs, event: threadMarkedEvent(row) }] : [];
	});
	return [...marks, ...threadMarks];
}
