import type { AspectChange, InsideChanges } from '../engine/ports/changes.ts';
import type { ThreadInfo } from '../engine/ports/store.ts';
import type { Conversation } from '../model/conversation.ts';
import type { Message } from '../model/message.ts';
import type { ThreadSummary } from '../sequencer/effects.ts';
import { changedEvent } from './conversation-events.ts';
import type { LiveEvent } from './live-event.ts';
import { deletedEvent, editedEvent, messageEvent } from './message-events.ts';

/** Rebuilds events from stored changes, for clients that resume and for apps. The store does not have earlier versions of a message. */

export interface MessageChange {
	readonly message: Message;
	readonly at: number;
	/** The timeline message before a new message, 0 for none. Null: the message was edited or deleted. */
	readonly prevTs: number | null;
}

export const messageChangesOf = ({ posted, changed }: InsideChanges): MessageChange[] => [
	...posted.map(({ message, prevTs }) => ({ message, at: message.ts, prevTs })),
	...changed.map((message) => ({ message, at: message.changedTs, prevTs: null })),
];

/** By conversation: the roots of the threads that the events show. An edited or deleted root also shows its thread. */
export function rootsOf(inside: InsideChanges): ReadonlyMap<string, ReadonlySet<number>> {
	const roots = new Map<string, Set<number>>();
	for (const { message, prevTs } of messageChangesOf(inside)) {
		const root = message.threadTs ?? (prevTs === null ? message.ts : null);
		if (root === null) continue;
		const known = roots.get(message.conversation) ?? new Set();
		roots.set(message.conversation, known.add(root));
	}
	return roots;
}

const NO_REPLIES = { replyCount: 0, latestReply: 0, replyUsers: [], replyUsersCount: 0 } as const;

export function summariesOf(roots: readonly Message[], infos: readonly ThreadInfo[]): ThreadSummary[] {
	const infoOf = new Map(infos.map((info) => [info.threadTs, info]));
	return roots.map((root) => ({ ...NO_REPLIES, ...infoOf.get(root.ts), root }));
}

/** `thread`: of the reply, or of the edited or deleted root. */
export function messageChangeEvent(
	{ message, prevTs }: MessageChange,
	conversation: Conversation,
	thread: ThreadSummary | null,
): LiveEvent {
	const isRoot = message.threadTs === null;
	if (prevTs !== null) return messageEvent({ conversation, message, prevTs, thread: isRoot ? null : thread });
	if (!message.deleted) return editedEvent(conversation, message, undefined, thread);
	return deletedEvent(conversation, message, isRoot && (thread?.replyCount ?? 0) > 0);
}

export const aspectEvent = (conversation: Conversation, { aspect, at, actor }: AspectChange): LiveEvent => {
	const what = aspect === 'archive' && !conversation.archived ? 'unarchive' : aspect;
	return changedEvent({ conversation, what, actor, at });
};
