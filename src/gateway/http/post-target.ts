import { Rejection } from '../../model/errors.ts';
import { isConversationId, isUserId } from '../../model/ids.ts';
import { noChannel, usersOf, visibleConversation } from './access.ts';
import type { UserCall } from './method.ts';
import { openWith } from './methods/conversations-open.ts';

/**
 * Resolves where to post: the id of a conversation, `#name` or `name` of a channel, or a user id or `@name` for the
 * direct message with that user. An unknown name is rejected like an unknown id, so that no message seems delivered
 * when it is not.
 */
export async function postTarget(call: UserCall, given: string): Promise<string> {
	if (isConversationId(given)) return given;
	if (isUserId(given)) return directWith(call, given);
	if (!given.startsWith('@')) return channelNamed(call, given.replace(/^#/, ''));
	const [user] = await call.services.directory.usersNamed(call.caller.team, [given.slice(1)]);
	if (!user) throw noChannel();
	return directWith(call, user.id);
}

async function directWith(call: UserCall, user: string): Promise<string> {
	const { services, caller } = call;
	try {
		return (await openWith(call, await usersOf(services, caller.team, [user], 'channel'))).id;
	} catch (error) {
		if (error instanceof Rejection && error.code === 'user_not_found') throw noChannel();
		throw error;
	}
}

async function channelNamed(call: UserCall, name: string): Promise<string> {
	const { services, caller } = call;
	const id = await services.directory.channelNamed(caller.team, name);
	if (id === null) throw noChannel();
	const { conversation } = await visibleConversation(call, id);
	// The channel may have reserved the name without having it yet, or may have a new name by now.
	if (conversation.name !== name) throw noChannel();
	return id;
}
