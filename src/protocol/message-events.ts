import type { Conversation } from '../model/conversation.ts';
import type { Message } from '../model/message.ts';
import { formatTs } from '../model/ts.ts';
import type { ThreadSummary } from '../sequencer/effects.ts';
import { type LiveEvent, liveEvent, stamped } from './live-event.ts';
import { authorOf, type JsonObject, type NewJsonObject, wireMessage } from './objects.ts';
import { previewOf } from './preview.ts';

/** Events about messages, the same for live delivery and for clients that resume. */

const CHANNEL_TYPE = { public: 'channel', private: 'group', im: 'im', mpim: 'mpim' } as const;

export interface Posted {
	readonly conversation: Conversation;
	readonly message: Message;
	/** ts of the previous message in the timeline; null or 0: none. */
	readonly prevTs: number | null;
	/** The thread that the message replies to. */
	readonly thread: ThreadSummary | null;
}

export function messageEvent({ conversation, message, prevTs, thread }: Posted): LiveEvent {
	const { id, team, kind } = conversation;
	const isInTimeline = message.threadTs === null || message.broadcast;
	// Assignments, because spreads are slow and every post comes through here.
	const wire = messageInThread(message, team, thread);
	const { event_ts, position } = stamped(message.ts);
	wire.channel = id;
	wire.channel_type = CHANNEL_TYPE[kind];
	if (isInTimeline) wire.prev_ts = formatTs(prevTs ?? 0);
	wire.event_ts = event_ts;
	wire.position = position;
	return liveEvent(id, `message ${message.ts}`, message.changedTs, wire);
}

/** A message with its thread: a root with the thread's summary, a reply with its parent. */
export function messageInThread(message: Message, team: string, thread: ThreadSummary | null): NewJsonObject {
	if (!thread) return wireMessage(message, team);
	if (message.threadTs === null) return rootIn(team, { ...thread, root: message });
	return {
		...wireMessage(message, team),
		parent_user_id: authorOf(thread.root),
		...(message.broadcast ? { root: rootPreview(team, thread) } : {}),
	};
}

/** `previous` is known only for live delivery, not when a client resumes. */
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

/** A deleted message with replies leaves a tombstone in its place. */
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

/** The summary of a thread changed: number of replies, latest reply. Clients already have the root. */
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

/** Every member gets this preview with each reply, so its size must not depend on the size of the root. */
function rootPreview(team: string, thread: ThreadSummary): JsonObject {
	const { message, isCut } = previewOf(thread.root);
	return { ...rootIn(team, { ...thread, root: message }), ...(isCut ? { is_preview: true } : {}) };
}

function rootIn(team: string, thread: ThreadSummary): NewJsonObject {
	const info = thread.replyCount > 0 ? { ...thread, threadTs: thread.root.ts } : undefined;
	return wireMessage(thread.root, team, info);
}
