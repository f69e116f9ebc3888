import type { Conversation } from '../model/conversation.ts';
import type { Message } from '../model/message.ts';
import { formatTs } from '../model/ts.ts';
import type { ThreadSummary } from '../sequencer/effects.ts';
import { type JsonObject, wireMessage } from './objects.ts';
import { stamped } from './stamped.ts';

/** Events about messages, alike whether they are told as they happen or to a client that was away. */

const CHANNEL_TYPE = { public: 'channel', private: 'group', im: 'im', mpim: 'mpim' } as const;

export interface Posted {
	readonly conversation: Conversation;
	readonly message: Message;
	/** The timeline message before it; null or 0 for none. */
	readonly prevTs: number | null;
	/** The thread it is a reply of. */
	readonly thread: ThreadSummary | null;
}

export function messageEvent({ conversation, message, prevTs, thread }: Posted): JsonObject {
	const timeline = message.threadTs === null || message.broadcast;
	return {
		...wireMessage(message, conversation.team),
		channel: conversation.id,
		channel_type: CHANNEL_TYPE[conversation.kind],
		...(timeline ? { prev_ts: formatTs(prevTs ?? 0) } : {}),
		...(thread ? { parent_user_id: thread.root.user } : {}),
		...(thread && message.broadcast ? { root: rootOf(conversation, thread) } : {}),
		...stamped(message.ts),
	};
}

/** `previous` is known only while it happens. */
export function editedEvent(conversation: Conversation, message: Message, previous?: Message): JsonObject {
	return {
		type: 'message',
		subtype: 'message_changed',
		hidden: true,
		channel: conversation.id,
		ts: formatTs(message.changedTs),
		message: wireMessage(message, conversation.team),
		...(previous ? { previous_message: wireMessage(previous, conversation.team) } : {}),
		...stamped(message.changedTs),
	};
}

/** A tombstone stays where the message was, because it has replies. */
export function deletedEvent(
	conversation: Conversation,
	message: Message,
	tombstone: boolean,
	previous?: Message,
): JsonObject {
	return {
		type: 'message',
		subtype: 'message_deleted',
		hidden: true,
		channel: conversation.id,
		ts: formatTs(message.changedTs),
		deleted_ts: formatTs(message.ts),
		...(tombstone ? { tombstone: true } : {}),
		...(previous ? { previous_message: wireMessage(previous, conversation.team) } : {}),
		...stamped(message.changedTs),
	};
}

/** Tells that a thread's root looks different: its number of replies, its latest one. */
export function repliedEvent(conversation: Conversation, thread: ThreadSummary, at: number): JsonObject {
	return {
		type: 'message',
		subtype: 'message_replied',
		hidden: true,
		channel: conversation.id,
		ts: formatTs(at),
		message: rootOf(conversation, thread),
		...stamped(at),
	};
}

function rootOf(conversation: Conversation, thread: ThreadSummary): JsonObject {
	const info = thread.replyCount > 0 ? { ...thread, threadTs: thread.root.ts } : undefined;
	return wireMessage(thread.root, conversation.team, info);
}
