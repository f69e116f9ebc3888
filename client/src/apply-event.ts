import type { CountsState } from './counts-state.ts';
import { toCounts, type Wire } from './wire.ts';

/** What an event of the stream does to conversations and counts. */

/** Where an event came from, and what it leaves to be asked. */
export interface Wishes {
	/** It is one of those that were missed while there was no connection. */
	readonly isCatchingUp: boolean;
	/** A message was lost on the way: nothing of what is known can be relied on. */
	gap(): void;
	/** What this conversation is, and its counts. */
	conversation(id: string): void;
	/** Whether the user is in this conversation and it is not archived. */
	membership(id: string): void;
	/** The newest message of this conversation. */
	preview(id: string): void;
}

type Apply = (state: CountsState, event: Wire, wishes: Wishes) => void;

const setCounts: Apply = (state, event, wishes) => {
	if (state.setCounts(event.channel, toCounts(event)) === 'recount') wishes.conversation(event.channel);
};

const join: Apply = (state, { channel, position }) => {
	if (state.noteMembership(channel.id, position)) state.join(channel, position);
};

const drop: Apply = (state, { channel, position }, wishes) => {
	if (!state.noteMembership(channel, position)) return;
	// Its counts were taken later: the user may be in it again, and only the server knows.
	if (state.isCountedAt(channel, position)) wishes.membership(channel);
	else state.drop(channel);
};

/** It counts as before; what it is was forgotten when it was archived, or never known. */
const unarchive: Apply = (state, event, wishes) => {
	if (!state.noteMembership(event.channel, event.position) || state.conversations.has(event.channel)) return;
	state.expect(event.channel, event.position);
	wishes.conversation(event.channel);
};

const rename: Apply = (state, { channel: { id, name }, position }) =>
	state.redescribe(id, { name }, position);
const topic: Apply = (state, { channel, topic, position }) => state.redescribe(channel, { topic }, position);
const purpose: Apply = (state, { channel, purpose, position }) =>
	state.redescribe(channel, { purpose }, position);

const message: Apply = (state, event, wishes) => {
	const { channel, subtype } = event;
	const preview = state.conversations.get(channel)?.preview;
	if (subtype === 'message_changed') {
		if (!preview || preview.ts !== event.message.ts) return;
		state.redescribe(channel, { preview: { ...preview, text: event.message.text } }, event.position);
	} else if (subtype === 'message_deleted') {
		state.remove(channel, event.deleted_ts, event.position);
		if (preview?.ts !== event.deleted_ts) return;
		state.describe(channel, { preview: null });
		wishes.preview(channel);
	} else if (event.prev_ts !== undefined && state.post(event, wishes.isCatchingUp) === 'gap') wishes.gap();
};

const APPLY: Readonly<Record<string, Apply>> = {
	message,
	channel_marked: setCounts,
	group_marked: setCounts,
	mpim_marked: setCounts,
	im_marked: setCounts,
	conversation_preference_changed: setCounts,
	unread_counts_updated: setCounts,
	channel_joined: join,
	group_joined: join,
	mpim_joined: join,
	im_created: join,
	channel_left: drop,
	group_left: drop,
	channel_archive: drop,
	group_archive: drop,
	channel_unarchive: unarchive,
	group_unarchive: unarchive,
	channel_rename: rename,
	group_rename: rename,
	channel_topic: topic,
	group_topic: topic,
	channel_purpose: purpose,
	group_purpose: purpose,
	update_thread_state: (state, event) => state.setThreads(event),
};

export function applyEvent(state: CountsState, event: Wire, wishes: Wishes): void {
	APPLY[event.type]?.(state, event, wishes);
}
