import type { Conversation, User } from '@tidemark/client';
import { useClient, useSelected, useUser } from '@tidemark/client/react';

/** Names of people and conversations. */

export const nameOf = (user: User | undefined): string => user?.realName || user?.name || '';

/** Whether people can write to the user or mention the user. Slackbot exists only for apps, and reads nothing. */
export const canBeNamed = ({ id, isDeleted }: User): boolean => !isDeleted && id !== 'USLACKBOT';

type Users = ReadonlyMap<string, User>;

export function conversationName(conversation: Conversation, users: Users, self: string): string {
	const { kind, name, user, members } = conversation;
	if (kind === 'im') return nameOf(users.get(user ?? '')) || 'Direct message';
	if (kind === 'mpim')
		return (
			members
				.filter((member) => member !== self)
				.map((member) => nameOf(users.get(member)) || '…')
				.toSorted((a, b) => a.localeCompare(b))
				.join(', ') || 'Group'
		);
	return name;
}

export const isChannel = (conversation: Conversation | null): boolean =>
	conversation?.kind === 'public' || conversation?.kind === 'private';

/** Whether this is the general channel, which nobody can leave or archive. It is recognised by its id. */
export const useIsGeneral = ({ id }: Pick<Conversation, 'id'>): boolean =>
	useSelected(({ team }) => team !== null && id === `C${team.id.slice(1)}GENERAL`);

/** The name as part of a sentence: channels get a # because no icon is beside the name. */
export const titledName = (conversation: Conversation | null, name: string): string =>
	isChannel(conversation) ? `#${name}` : name;

/** What the badge counts: mentions in a channel, every unread message in a direct or group message. */
export const badgeNoun = (conversation: Conversation): string =>
	isChannel(conversation) ? 'mention' : 'unread message';

export const useSelf = (): string => useSelected(({ self }) => self?.id ?? '');

export const useUserName = (id: string): string => nameOf(useUser(id));

/** The name of the conversation. Loads its members if their names are part of it. */
export function useConversationName(conversation: Conversation | null): string {
	const client = useClient();
	const self = useSelf();
	return useSelected(({ users }) => {
		if (!conversation) return '';
		if (conversation.user && !users.has(conversation.user)) client.user(conversation.user);
		for (const member of conversation.members) if (!users.has(member)) client.user(member);
		return conversationName(conversation, users, self);
	});
}
