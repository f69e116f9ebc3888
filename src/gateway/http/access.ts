import type { User } from '../../engine/ports/store.ts';
import type { Conversation } from '../../model/conversation.ts';
import { Refusal } from '../../model/errors.ts';
import type { Services } from '../services.ts';
import { slackbotDirectAt } from './slackbot-direct.ts';

/**
 * Who may see what. Nothing crosses a workspace; its public channels are open to all of its users, and of
 * anything else those who are not in it do not learn that it exists.
 */

/** Who asks, by a method or over a socket. */
export interface Asking {
	readonly services: Services;
	readonly caller: { readonly user: Pick<User, 'id' | 'isBot'>; readonly team: string };
}

export const noChannel = (): Refusal => new Refusal('channel_not_found', 'channel: no such conversation');

const notMember = (): Refusal => new Refusal('not_in_channel', 'channel: the caller is not a member');

/** A conversation of the caller's workspace, member or not. */
async function conversationOf({ services, caller }: Asking, id: string): Promise<Conversation> {
	const [conversation] = await services.directory.conversations([id]);
	if (!conversation || conversation.team !== caller.team) throw noChannel();
	return conversation;
}

const isMember = async ({ services, caller }: Asking, id: string): Promise<boolean> =>
	(await services.readState.member(caller.user.id, id)) !== null;

/** A conversation that the caller may know of. */
export async function visible(
	call: Asking,
	id: string,
): Promise<{ conversation: Conversation; isMember: boolean }> {
	const withSlackbot = await slackbotDirectAt(call, id);
	if (withSlackbot) return { conversation: withSlackbot, isMember: true };
	const conversation = await conversationOf(call, id);
	const member = await isMember(call, id);
	if (!member && conversation.kind !== 'public') throw noChannel();
	return { conversation, isMember: member };
}

/** A conversation whose messages the caller may read: bots only where they are members, as at Slack. */
export async function readable(call: Asking, id: string): Promise<Conversation> {
	const { conversation, isMember: member } = await visible(call, id);
	if (!member && call.caller.user.isBot) throw notMember();
	return conversation;
}

/** A conversation that the caller is in. */
export async function joined(call: Asking, id: string): Promise<Conversation> {
	const { conversation, isMember: member } = await visible(call, id);
	if (!member) throw notMember();
	return conversation;
}

/**
 * For work that finds out by itself whether the caller is a member: only a rejection is looked into, to distinguish
 * a public channel that one is not in from one that one may not know of.
 */
export async function asMember<T>(call: Asking, id: string, work: () => Promise<T>): Promise<T> {
	try {
		return await work();
	} catch (error) {
		if (!(error instanceof Refusal) || error.code !== 'not_in_channel') throw error;
		await joined(call, id);
		throw error;
	}
}

/** Users of one workspace, in the order asked for. One that is not there, or no longer, refuses the call. */
export async function usersOf(
	services: Services,
	team: string,
	ids: readonly string[],
	argument: string,
): Promise<User[]> {
	const found = new Map((await services.directory.users(ids)).map((user) => [user.id, user]));
	return ids.map((id) => {
		const user = found.get(id);
		if (!user || user.team !== team) throw new Refusal('user_not_found', `${argument}: no user ${id}`);
		if (user.deleted) throw new Refusal('user_disabled', `${argument}: ${id} is deactivated`);
		return user;
	});
}
