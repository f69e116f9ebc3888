import type { Conversation } from '@tidemark/client';
import { useClient, useSelected } from '@tidemark/client/react';
import { memo, useMemo } from 'react';
import { type MessageContent, wordsOf } from '../message/content.ts';
import { useFullMessage } from '../message/full-message.ts';
import { namedIn, plainText } from '../message/plain-text.ts';
import { badgeNoun, useConversationName, useSelf, useUserName } from '../session/names.ts';
import { formatRoute, toConversation } from '../session/route.ts';
import { toastResult } from '../session/toast.tsx';
import { ConversationIcon } from '../sidebar/ConversationIcon.tsx';
import { isUnread } from '../sidebar/sections.ts';
import { Badge } from '../ui/Badge.tsx';
import { plural, whenOf } from '../ui/format.ts';
import { IconButton } from '../ui/IconButton.tsx';

export const InboxItem = memo(function InboxItem({ conversation }: { readonly conversation: Conversation }) {
	const client = useClient();
	const name = useConversationName(conversation);
	const { id, preview, latest, badgeCount, unreadCountDisplay, isMuted, hasUnreads } = conversation;
	const content = useFullMessage(preview && { ...preview, channel: id });
	return (
		<div className={`inbox-item ${isUnread(conversation) ? 'unread' : ''} ${isMuted ? 'muted' : ''}`}>
			<a href={formatRoute(toConversation(id))}>
				<ConversationIcon conversation={conversation} name={name} />
				<span className="inbox-main">
					<span className="inbox-top">
						<strong className="inbox-name">{name}</strong>
						{unreadCountDisplay > 0 && (
							<span className={`inbox-count ${badgeCount > 0 ? 'with-badge' : ''}`}>
								{plural(unreadCountDisplay, 'new message')}
							</span>
						)}
						<Badge count={badgeCount} of={badgeNoun(conversation)} />
						{preview && <time dateTime={preview.ts}>{whenOf(preview.ts)}</time>}
					</span>
					<span className="inbox-preview">
						{preview ? (
							<>
								<Author id={preview.user} />: <PlainText content={content} />
							</>
						) : (
							emptyPreview(latest)
						)}
					</span>
				</span>
			</a>
			<IconButton
				icon="check"
				label={`Mark ${name} as read`}
				disabled={!hasUnreads}
				onClick={() => toastResult(client.conversation(id).mark())}
			/>
		</div>
	);
});

/** For a conversation without a preview: it has no message, or the newest one is not loaded yet. */
const emptyPreview = (latest: string): string => (Number(latest) > 0 ? '…' : 'No messages yet');

function Author({ id }: { readonly id: string }) {
	const name = useUserName(id);
	const self = useSelf();
	return id === self ? 'You' : name || '…';
}

/** The content in one line without markup. Loads users whose names are part of it. */
function PlainText({ content }: { readonly content: MessageContent }) {
	const client = useClient();
	const words = useMemo(() => wordsOf(content), [content]);
	return useSelected(({ users }) => {
		for (const id of namedIn(words)) if (!users.has(id)) client.user(id);
		return plainText(words, users);
	});
}
