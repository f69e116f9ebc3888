import type { Conversation } from '../../model/conversation.ts';
import { type JsonObject, wireConversation } from '../../protocol/objects.ts';
import { messageViews } from './message-view.ts';
import type { UserCall } from './method.ts';

/** Conversation objects, as their caller sees them: with counts for members. */

export async function conversationView(call: UserCall, conversation: Conversation): Promise<JsonObject> {
	const { readState } = call.services;
	const user = call.caller.user.id;
	const row = await readState.row(user, conversation.id);
	// What is archived counts no more, and may have no row: its members are members all the same.
	const isMember = row !== null || (await readState.member(user, conversation.id)) !== null;
	return wireConversation(conversation, { user, row, isMember });
}

/** With what is asked for one at a time: in a direct message, the newest message itself. */
export async function fullConversationView(call: UserCall, conversation: Conversation): Promise<JsonObject> {
	const view = await conversationView(call, conversation);
	if (conversation.kind !== 'im') return view;
	return { ...view, latest: await latestMessage(call, conversation) };
}

async function latestMessage(call: UserCall, conversation: Conversation): Promise<JsonObject | null> {
	const newest = await call.services.history.timeline(conversation.id, {
		after: 0,
		before: Number.MAX_SAFE_INTEGER,
		limit: 1,
		nearest: 'newest',
	});
	const [view] = await messageViews(
		call,
		conversation,
		newest.filter((message) => !message.deleted),
	);
	return view ?? null;
}

/** What `conversations.*` methods answer whose result is a conversation. */
export const channelAnswer = async (call: UserCall, conversation: Conversation): Promise<JsonObject> => ({
	channel: await conversationView(call, conversation),
});
