import type { Conversation } from '@tidemark/client';
import { memo } from 'react';
import { useHasDraft } from '../composer/drafts.ts';
import { badgeNoun, useConversationName, useSelf } from '../session/names.ts';
import { formatRoute, toConversation } from '../session/route.ts';
import { Badge } from '../ui/Badge.tsx';
import { plural } from '../ui/format.ts';
import { Icon } from '../ui/icons.tsx';
import { ConversationIcon } from './ConversationIcon.tsx';
import { isUnread } from './sections.ts';

interface Props {
	readonly conversation: Conversation;
	readonly isCurrent: boolean;
}

const classesOf = (conversation: Conversation, isCurrent: boolean): string =>
	[
		'side-row',
		isCurrent ? 'current' : '',
		isUnread(conversation) ? 'unread' : '',
		conversation.isMuted ? 'muted' : '',
	].join(' ');

export const SidebarItem = memo(function SidebarItem({ conversation, isCurrent }: Props) {
	const name = useConversationName(conversation);
	const hasDraft = useHasDraft(useSelf(), conversation.id) && !isCurrent;
	const { id, badgeCount, unreadCountDisplay, isMuted } = conversation;
	return (
		<a
			className={classesOf(conversation, isCurrent)}
			href={formatRoute(toConversation(id))}
			aria-current={isCurrent ? 'page' : undefined}
			data-conversation={id}
		>
			<ConversationIcon conversation={conversation} name={name} />
			<span className="side-name" dir="auto">
				{name}
			</span>
			{hasDraft && (
				<span className="side-muted" title="Draft">
					<Icon name="edit" />
					<span className="only-read-aloud">draft</span>
				</span>
			)}
			{isMuted && (
				<span className="side-muted" title="Muted">
					<Icon name="muted" />
					<span className="only-read-aloud">muted</span>
				</span>
			)}
			{badgeCount === 0 && unreadCountDisplay > 0 && (
				<span className="only-read-aloud">{plural(unreadCountDisplay, 'unread message')}</span>
			)}
			<Badge count={badgeCount} of={badgeNoun(conversation)} />
		</a>
	);
});
