import type { User } from '../../engine/ports/store.ts';
import type { Conversation } from '../../model/conversation.ts';
import { type ErrorCode, Rejection } from '../../model/errors.ts';
import type { Services } from '../services.ts';
import { slackbotDirectAt } from './slackbot-direct.ts';

/**
 * Decides what a caller may see. Nothing crosses a workspace. Public channels are visible to all users of the
 * workspace; any other conversation looks nonexistent to users who are not members.
 */

/** The services and caller of a method or socket frame. */
export interface CallContext {
	readonly services: Services;
	readonly caller: { readonly user: Pick<User, 'id' | 'isBot'>; readonly team: string };
}

export const noChannel = (): Rejection => new Rejection('channel_not_found', 'channel: no such conversation');

const notMember = (): Rejection => new Rejection('not_in_channel', 'channel: the caller is not a member');

/** A conversation of the caller's workspace, whether or not the caller is a member. */
async function conversationOf({ services, caller }: CallContext, id: string): Promise<Conversation> {
	const [conversation] = await services.directory.conversations([id]);
	if (!conversation || conversation.team !== caller.team) throw noChannel();
	return conversation;
}

const isMember = async ({ services, caller }: CallContext, id: string): Promise<boolean> =>
	(await services.readState.member(caller.user.id, id)) !== null;

/** A conversation whose existence the caller may know. */
export async function visibleConversation(
	call: CallContext,
	id: string,
): Promise<{ conversation: Conversation; isMember: boolean }> {
	const withSlackbot = await slackbotDirectAt(call, id);
	if (withSlackbot) return { conversation: withSlackbot, isMember: true };
	const conversation = await conversationOf(call, id);
	const member = await isMember(call, id);
	if (!member && conversation.kind !== 'public') throw noChannel();
	return { conversation, isMember: member };
}

/** A conversation whose messages the caller may read: for bots only if they are members, as at Slack. */
export async function readableConversation(call: CallContext, id: string): Promise<Conversation> {
	const { conversation, isMember: member } = await visibleConversation(call, id);
	if (!member && call.caller.user.isBot) throw notMember();
	return conversation;
}

const NOT_READABLE: readonly ErrorCode[] = ['channel_not_found', 'not_in_channel'];

/** As `readableConversation`; null if the caller may not read it. */
export const readableOrNull = (call: CallContext, id: string): Promise<Conversation | null> =>
	nullIfRejected(readableConversation(call, id), NOT_READABLE);

/** Null if it is rejected with one of these codes. */
export async function nullIfRejected<T>(found: Promise<T>, codes: readonly ErrorCode[]): Promise<T | null> {
	try {
		return await found;
	} catch (error) {
		if (error instanceof Rejection && codes.includes(error.code)) return null;
		throw error;
	}
}

/** A conversation of which the caller is a member. */
export async function joinedConversation(call: CallContext, id: string): Promise<Conversation> {
	const { conversation, isMember: member } = await visibleConversation(call, id);
	if (!member) throw notMember();
	return conversation;
}

/**
 * Runs work that checks membership itself. Only if the work rejects the caller, looks up whether to answer
 * `not_in_channel` (a public channel) or `channel_not_found` (a conversation that the caller may not know of).
 */
export async function asMember<T>(call: CallContext, id: string, work: () => Promise<T>): Promise<T> {
	try {
		return await work();
	} catch (error) {
		if (!(error instanceof Rejection) || error.code !== 'not_in_channel') throw error;
		await joinedConversation(call, id);
		throw error;
	}
}

/** Users of one workspace, in the order of `ids`. Throws if one is unknown or deactivated. */
export async function usersOf(
	services: Services,
	team: string,
	ids: readonly string[],
	argument: string,
): Promise<User[]> {
	const found = new Map((await services.directory.users(ids)).map((user) => [user.id, user]));
	return ids.map((id) => {
		const user = found.get(id);
		if (!user || user.team !== team)
			throw new Rejection('user_not_found', `${argument}: there is no user ${id}`);
		if (user.deleted) throw new Rejection('user_disabled', `${argument}: ${id} is deactivated`);
		return user;
	});
}
