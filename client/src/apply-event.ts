import type { CountsState } from './counts-state.ts';
import { toCounts, type Wire } from './wire.ts';

/** Applies an event to conversations and counts. */

/** The context of an event, and callbacks that fetch what the event does not contain. */
export interface FollowUps {
	/** The client missed the event while it was disconnected. */
	readonly isCatchingUp: boolean;
	/** A message never arrived, so the known state is unreliable. */
	gap(): void;
	/** Fetch the conversation and its counts. */
	conversation(id: string): void;
	/** Fetch whether the user is still a member and the conversation is not archived. */
	membership(id: string): void;
	/** Fetch the newest message of the conversation, unless it is known. */
	preview(id: string): void;
}

type Apply = (state: CountsState, event: Wire, followUps: FollowUps) => void;

const setCounts: Apply = (state, event, followUps) => {
	if (state.setCounts(event.channel, toCounts(event)) === 'recount') followUps.conversation(event.channel);
};

const join: Apply = (state, { channel, position }, followUps) => {
	if (!state.noteMembership(channel.id, position)) return;
	state.join(channel, position);
	followUps.preview(channel.id);
};

const drop: Apply = (state, { channel, position }, followUps) => {
	if (!state.noteMembership(channel, position)) return;
	// The counts are newer than this event: the user may have rejoined, and only the server knows.
	if (state.isCountedAt(channel, position)) followUps.membership(channel);
	else state.drop(channel);
};

/** Fetches the conversation: its description was dropped when it was archived, or was never known. */
const unarchive: Apply = (state, event, followUps) => {
	if (!state.noteMembership(event.channel, event.position) || state.conversations.has(event.channel)) return;
	state.track(event.channel, event.position);
	followUps.conversation(event.channel);
};

const rename: Apply = (state, { channel: { id, name }, position }) =>
	state.redescribe(id, { name }, position);
const topic: Apply = (state, { channel, topic, position }) => state.redescribe(channel, { topic }, position);
const purpose: Apply = (state, { channel, purpose, position }) =>
	state.redescribe(channel, { purpose }, position);

const message: Apply = (state, event, followUps) => {
	const { channel, subtype } = event;
	const preview = state.conversations.get(channel)?.preview;
	if (subtype === 'message_changed') {
		if (!preview || preview.ts !== event.message.ts) return;
		state.redescribe(channel, { preview: { ...preview, text: event.message.text } }, event.position);
	} else if (subtype === 'message_deleted') {
		state.noteDeleted(channel, event.deleted_ts, event.position);
		if (preview?.ts !== event.deleted_ts) return;
		state.describe(channel, { preview: null });
		followUps.preview(channel);
	} else if (event.prev_ts !== undefined && state.post(event, followUps.isCatchingUp) === 'gap')
		followUps.gap();
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

export function applyEvent(state: CountsState, event: Wire, followUps: FollowUps): void {
	APPLY[event.type]?.(state, event, followUps);
}
