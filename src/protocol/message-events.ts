import type { Conversation } from '../model/conversation.ts';
import type { Message } from '../model/message.ts';
import { formatTs } from '../model/ts.ts';
import type { ThreadSummary } from '../sequencer/effects.ts';
import { type LiveEvent, liveEvent } from './live-event.ts';
import { authorOf, type JsonObject, wireMessage } from './objects.ts';
import { previewOf } from './preview.ts';
import { stamped } from './stamped.ts';

/** Events about messages, the same live and for a client that resumes. */

const CHANNEL_TYPE = { public: 'channel', private: 'group', im: 'im', mpim: 'mpim' } as const;

export interface Posted {
	readonly conversation: Conversation;
	readonly message: Message;
	/** The timeline message before it; null or 0 for none. */
	readonly prevTs: number | null;
	/** The thread it is a reply of. */
	readonly thread: ThreadSummary | null;
}

export function messageEvent({ conversation, message, prevTs, thread }: Posted): LiveEvent {
	const timeline = message.threadTs === null || message.broadcast;
	const asOf = message.changedTs;
	return liveEvent(conversation.id, `message ${message.ts}`, asOf, {
		...messageInThread(message, conversation.team, thread),
		channel: conversation.id,
		channel_type: CHANNEL_TYPE[conversation.kind],
		...(timeline ? { prev_ts: formatTs(prevTs ?? 0) } : {}),
		...stamped(message.ts),
	});
}

/** A message with its place in a thread: a root with how it looks from outside, a reply with its parent. */
export function messageInThread(message: Message, team: string, thread: ThreadSummary | null): JsonObject {
	if (!thread) return wireMessage(message, team);
	if (message.threadTs === null) return rootIn(team, { ...thread, root: message });
	return {
		...wireMessage(message, team),
		parent_user_id: authorOf(thread.root),
		...(message.broadcast ? { root: rootPreview(team, thread) } : {}),
	};
}

/** `previous` is known only while it happens. */
export function editedEvent(
	conversation: Conversation,
	message: Message,
	previous?: Message,
	thread: ThreadSummary | null = null,
): LiveEvent {
	const { team } = conversation;
	return liveEvent(conversation.id, `message ${message.ts}`, message.changedTs, {
		type: 'message',
		subtype: 'message_changed',
		hidden: true,
		channel: conversation.id,
		ts: formatTs(message.changedTs),
		message: messageInThread(message, team, thread),
		...(previous ? { previous_message: messageInThread(previous, team, thread) } : {}),
		...stamped(message.changedTs),
	});
}

/** A tombstone stays where the message was, because it has replies. */
export function deletedEvent(
	conversation: Conversation,
	message: Message,
	tombstone: boolean,
	previous?: Message,
): LiveEvent {
	return liveEvent(conversation.id, `message ${message.ts}`, message.changedTs, {
		type: 'message',
		subtype: 'message_deleted',
		hidden: true,
		channel: conversation.id,
		ts: formatTs(message.changedTs),
		deleted_ts: formatTs(message.ts),
		...(tombstone ? { tombstone: true } : {}),
		...(previous ? { previous_message: wireMessage(previous, conversation.team) } : {}),
		...stamped(message.changedTs),
	});
}

/** A thread's root has other counters: its number of replies, its latest one. Clients have the root itself already. */
export function repliedEvent(conversation: Conversation, thread: ThreadSummary, at: number): LiveEvent {
	return liveEvent(conversation.id, `thread ${thread.root.ts}`, at, {
		type: 'message',
		subtype: 'message_replied',
		hidden: true,
		channel: conversation.id,
		ts: formatTs(at),
		message: rootPreview(conversation.team, thread),
		...stamped(at),
	});
}

/** What goes to every member with each reply must not grow with the root. */
function rootPreview(team: string, thread: ThreadSummary): JsonObject {
	const { message, isCut } = previewOf(thread.root);
	return { ...rootIn(team, { ...thread, root: message }), ...(isCut ? { is_preview: true } : {}) };
}

function rootIn(team: string, thread: ThreadSummary): JsonObject {
	const info = thread.replyCount > 0 ? { ...thread, threadTs: thread.root.ts } : undefined;
	return wireMessage(thread.root, team, info);
}
