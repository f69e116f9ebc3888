import type { InsideChanges } from '../engine/ports/changes.ts';
import type { Conversation } from '../model/conversation.ts';
import { threadKey } from '../model/ids.ts';
import { inTimeline } from '../model/message.ts';
import { joinedEvent, leftEvent } from '../protocol/conversation-events.ts';
import {
	markedEvent,
	preferenceEvent,
	threadMarkedEvent,
	threadSubscribedEvent,
	threadUnsubscribedEvent,
} from '../protocol/events.ts';
import { fileDeletions, sharedEvents } from '../protocol/file-events.ts';
import type { LiveEvent } from '../protocol/live-event.ts';
import { repliedEvent } from '../protocol/message-events.ts';
import { pinEvent } from '../protocol/pin-events.ts';
import { reactionEvent } from '../protocol/reaction-events.ts';
import {
	aspectEvent,
	type MessageChange,
	messageChangeEvent,
	messageChangesOf,
} from '../protocol/stored-events.ts';
import type { ThreadSummary } from '../sequencer/effects.ts';
import type { UserSnapshot } from './snapshots.ts';

/**
 * Rebuilds, from rows of the store, the events that a resuming client missed: the same events that live delivery sends. They are in the
 * order of their stamps, with two exceptions. Marks carry current counts, so they follow the messages that they count. Archiving comes
 * last, because archived conversations stop counting.
 */

/** By `threadKey`: threads of replies, and of edited or deleted roots. */
export type Threads = ReadonlyMap<string, ThreadSummary>;

export interface MissedChanges {
	readonly user: string;
	readonly snapshot: UserSnapshot;
	readonly inside: InsideChanges;
	readonly conversations: ReadonlyMap<string, Conversation>;
	readonly threads: Threads;
}

export interface MissedEvent {
	readonly at: number;
	readonly event: LiveEvent;
	/** Only about this user. Live delivery publishes it on the user's topic, not on that of a conversation. */
	readonly isOwn?: true;
	/** The group that this event follows: a mark follows messages, archiving follows marks. Absent: the first group. */
	readonly after?: 'messages' | 'marks' | null;
}

export function missedEvents(found: MissedChanges): MissedEvent[] {
	// Events with the same stamp come in the order of live delivery: message, thread, followers.
	const events = [
		...membershipEvents(found),
		...messageEvents(found),
		...otherEvents(found),
		...followEvents(found),
	].sort((a, b) => a.at - b.at);
	return [null, 'messages', 'marks'].flatMap((group) => events.filter(({ after = null }) => after === group));
}

function* membershipEvents(found: MissedChanges): Iterable<MissedEvent> {
	const { user, snapshot, inside, conversations } = found;
	const { own, isMissed } = snapshot;
	const rows = new Map(snapshot.rows.map((row) => [row.conversation, row]));
	const inTimelines = inside.posted.filter(({ message }) => inTimeline(message));
	const posted = Map.groupBy(inTimelines, ({ message }) => message.conversation);
	for (const { conversation: id, member, joinedTs, changedTs, preferredTs } of own.memberships) {
		const conversation = conversations.get(id);
		const row = rows.get(id);
		if (conversation && !member && isMissed(changedTs))
			yield { at: changedTs, event: leftEvent(conversation, changedTs), isOwn: true };
		if (!conversation || !member || !row) continue;
		if (isMissed(joinedTs)) {
			// The newest message before the missed ones.
			const latest = (posted.get(id) ?? []).reduce((ts, { prevTs }) => Math.min(ts, prevTs), row.latest);
			const event = joinedEvent(conversation, user, { cursor: row.lastRead, latest }, joinedTs);
			yield { at: joinedTs, event, isOwn: true };
		}
		if (isMissed(changedTs)) yield { at: changedTs, event: markedEvent(row), isOwn: true, after: 'messages' };
		if (isMissed(preferredTs))
			yield { at: preferredTs, event: preferenceEvent(row), isOwn: true, after: 'messages' };
	}
}

function* messageEvents(found: MissedChanges): Iterable<MissedEvent> {
	const { snapshot, inside, conversations, threads } = found;
	const messages = messageChangesOf(inside);
	const summarised = newestByThread(messages);
	for (const change of messages) {
		const { message, at, prevTs } = change;
		const key = threadKey(message.conversation, message.threadTs ?? message.ts);
		const conversation = conversations.get(message.conversation);
		if (!conversation) continue;
		const thread = threads.get(key) ?? null;
		yield { at, event: messageChangeEvent(change, conversation, thread) };
		if (thread && summarised.get(key) === at) yield { at, event: repliedEvent(conversation, thread, at) };
		if (prevTs !== null) for (const event of sharedEvents(message)) yield { at, event };
		if (!message.deleted) yield* fileDeletions(message).filter((deletion) => snapshot.isMissed(deletion.at));
	}
}

/** The newest change of each thread's summary. Each thread has one event, with its current summary; edited replies do not change it. */
function newestByThread(changes: readonly MessageChange[]): ReadonlyMap<string, number> {
	const newest = new Map<string, number>();
	for (const { message, at, prevTs } of changes) {
		if (message.threadTs === null || (prevTs === null && !message.deleted)) continue;
		const key = threadKey(message.conversation, message.threadTs);
		newest.set(key, Math.max(newest.get(key) ?? 0, at));
	}
	return newest;
}

function* otherEvents({ inside, conversations }: MissedChanges): Iterable<MissedEvent> {
	for (const change of inside.reactions)
		yield { at: change.at, event: reactionEvent({ ...change, channel: change.conversation }) };
	for (const change of inside.pins)
		yield { at: change.at, event: pinEvent({ ...change, channel: change.conversation }) };
	for (const change of inside.aspects) {
		const conversation = conversations.get(change.conversation);
		if (!conversation) continue;
		const isArchived = change.aspect === 'archive' && conversation.archived;
		yield { at: change.at, event: aspectEvent(conversation, change), after: isArchived ? 'marks' : null };
	}
}

function* followEvents({ snapshot }: MissedChanges): Iterable<MissedEvent> {
	const { own, isMissed } = snapshot;
	const rows = new Map(snapshot.threads.map((row) => [threadKey(row.conversation, row.threadTs), row]));
	// Changed conversations that the user is still in. A leave ends all follows there, without an event for each.
	const current = new Set(snapshot.conversations);
	for (const { conversation, threadTs, active, since, changedTs } of own.follows) {
		const row = rows.get(threadKey(conversation, threadTs));
		const ended = { conversation, threadTs, since, lastRead: 0 };
		if (!active && isMissed(since) && current.has(conversation))
			yield { at: since, event: threadUnsubscribedEvent(ended, since), isOwn: true };
		if (!active || !row) continue;
		if (isMissed(since)) yield { at: since, event: threadSubscribedEvent(row, since), isOwn: true };
		if (changedTs > since && isMissed(changedTs))
			yield { at: changedTs, event: threadMarkedEvent(row), isOwn: true, after: 'messages' };
	}
}
