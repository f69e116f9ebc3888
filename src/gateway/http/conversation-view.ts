import type { Conversation } from '../../model/conversation.ts';
import { type JsonObject, type Viewer, wireConversation } from '../../protocol/objects.ts';
import { messageViews } from './message-view.ts';
import type { UserCall } from './method.ts';

/** Conversation objects, as their caller sees them: with counts for members. */

export async function conversationView(call: UserCall, conversation: Conversation): Promise<JsonObject> {
	return wireConversation(conversation, await viewerOf(call, conversation));
}

async function viewerOf({ services, caller }: UserCall, { id }: Conversation): Promise<Viewer> {
	const user = caller.user.id;
	const row = await services.readState.row(user, id);
	// What is archived counts no more, and may have no row: its members are members all the same.
	const isMember = row !== null || (await services.readState.member(user, id)) !== null;
	return { user, row, isMember };
}

/** With what is asked for one at a time: in a direct message, the newest message itself. */
export async function fullConversationView(call: UserCall, conversation: Conversation): Promise<JsonObject> {
	const viewer = await viewerOf(call, conversation);
	if (conversation.kind !== 'im') return wireConversation(conversation, viewer);
	const latestMessage = await messageAt(call, conversation, viewer.row?.latest ?? 0);
	return wireConversation(conversation, { ...viewer, latestMessage });
}

async function messageAt(call: UserCall, conversation: Conversation, ts: number): Promise<JsonObject | null> {
	if (ts === 0) return null;
	const found = await call.services.history.messages(conversation.id, [ts]);
	const [view] = await messageViews(call, conversation, found);
	return view ?? null;
}

/** What `conversations.*` methods answer whose result is a conversation. */
export const channelAnswer = async (call: UserCall, conversation: Conversation): Promise<JsonObject> => ({
	channel: await conversationView(call, conversation),
});
