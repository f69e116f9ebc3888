import type { Conversation, User } from '@tidemark/client';
import { useClient, useSelected, useUser } from '@tidemark/client/react';

/** What people and conversations are called. */

export const nameOf = (user: User | undefined): string => user?.realName || user?.name || '';

/** Whom one can write to: Slackbot is there for applications alone, and reads nothing. */
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

/** As it is written in a sentence, without its sign beside it. */
export const titledName = (conversation: Conversation | null, name: string): string =>
	isChannel(conversation) ? `#${name}` : name;

/** What the number on its badge counts: everything that is written to the user, or what calls in a channel. */
export const badgeOf = (conversation: Conversation): string =>
	isChannel(conversation) ? 'mention' : 'unread message';

export const useSelf = (): string => useSelected(({ self }) => self?.id ?? '');

export const useUserName = (id: string): string => nameOf(useUser(id));

/** Asks for the people in it where they are not known yet. */
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
