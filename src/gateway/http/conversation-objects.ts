import type { Conversation } from '../../model/conversation.ts';
import { type JsonObject, type Viewer, wireConversation } from '../../protocol/objects.ts';
import { messageObjects, withoutMetadata } from './message-objects.ts';
import type { UserCall } from './method.ts';
import { ifAvailable } from './submit.ts';

/** Conversation objects as the caller sees them; members get counts. */

export async function conversationObject(call: UserCall, conversation: Conversation): Promise<JsonObject> {
	return wireConversation(conversation, await viewerOf(call, conversation));
}

async function viewerOf({ services, caller }: UserCall, { id }: Conversation): Promise<Viewer> {
	const user = caller.user.id;
	const row = await services.readState.row(user, id);
	// Archived conversations are not counted and may have no row, but their members stay members.
	const isMember = row !== null || (await services.readState.member(user, id)) !== null;
	return { user, row, isMember };
}

/** For a single conversation: a direct message includes its newest message, which lists leave out. */
export async function fullConversationObject(
	call: UserCall,
	conversation: Conversation,
): Promise<JsonObject> {
	return wireConversation(conversation, await fullViewerOf(call, conversation));
}

async function fullViewerOf(call: UserCall, conversation: Conversation): Promise<Viewer> {
	const viewer = await viewerOf(call, conversation);
	if (conversation.kind !== 'im') return viewer;
	const latestMessage = await messageAt(call, conversation, viewer.row?.latest ?? 0);
	return { ...viewer, latestMessage };
}

async function messageAt(call: UserCall, conversation: Conversation, ts: number): Promise<JsonObject | null> {
	if (ts === 0) return null;
	const found = await call.services.history.messages(conversation.id, [ts]);
	const [object] = await messageObjects(call, conversation, found);
	return object ? withoutMetadata(object) : null;
}

/** The answer of `conversations.*` methods that changed a conversation: with counts if they are available now. */
export const channelAnswer = async (call: UserCall, conversation: Conversation): Promise<JsonObject> => ({
	channel: await changedConversationObject(call, conversation, viewerOf),
});

/** Like channelAnswer, but a direct message includes its newest message. */
export const openedConversationObject = (call: UserCall, conversation: Conversation): Promise<JsonObject> =>
	changedConversationObject(call, conversation, fullViewerOf);

async function changedConversationObject(
	call: UserCall,
	conversation: Conversation,
	viewer: (call: UserCall, conversation: Conversation) => Promise<Viewer>,
): Promise<JsonObject> {
	const otherwise: Viewer = { user: call.caller.user.id, row: null, isMember: true };
	return wireConversation(conversation, await ifAvailable(() => viewer(call, conversation), otherwise));
}
