import type { Message } from '@tidemark/client';
import { memo, useCallback, useRef, useState } from 'react';
import { Controls } from '../apps/Controls.tsx';
import { MessageFiles } from '../files/MessageFiles.tsx';
import { useSelf, useUserName } from '../session/names.ts';
import { PersonAvatar } from '../session/PersonAvatar.tsx';
import { exactTime, shortTime, timeOf } from '../ui/format.ts';
import { EditBox } from './EditBox.tsx';
import { isEditable, useAskedToEdit } from './editing.ts';
import { emojiNamed } from './emoji.ts';
import { Folding } from './Folding.tsx';
import { MessageActions } from './MessageActions.tsx';
import { MessageBody } from './MessageBody.tsx';
import { NotSent } from './NotSent.tsx';
import { Reactions } from './Reactions.tsx';
import { ThreadSummaryLine } from './ThreadSummaryLine.tsx';

interface Props {
	readonly message: Message;
	/** Follows shortly after a message of the same author: shown without name and picture. */
	readonly isContinued: boolean;
	readonly isInThread: boolean;
	readonly isHighlighted?: boolean;
	/** The message that Tab focuses; arrow keys reach the others. */
	readonly isTabStop: boolean;
	/** Whether a root shows the number of its replies. */
	readonly showsThread: boolean;
}

/**
 * One message. Its buttons, and the time beside a continued message, are rendered only while the pointer or the focus is on the
 * message, which keeps long lists fast.
 */
export const MessageRow = memo(function MessageRow(props: Props) {
	const { message, isContinued, isInThread, isHighlighted = false, isTabStop, showsThread } = props;
	const [isNear, setNear] = useState(false);
	const [isEditing, setEditing] = useState(false);
	const self = useSelf();
	const article = useRef<HTMLElement>(null);
	const canEdit = isEditable(message, self);
	const focusedBefore = useRef<Element | null>(null);
	const edit = useCallback(() => {
		focusedBefore.current = document.activeElement;
		setEditing(canEdit);
	}, [canEdit]);
	const stopEditing = () => {
		setEditing(false);
		// Removing the focused element causes no blur event.
		setNear(false);
		// The focus returns to the text box if the user came from there with the arrow up, otherwise to the message.
		const target = focusedBefore.current?.matches('textarea') ? focusedBefore.current : article.current;
		requestAnimationFrame(() => (target as HTMLElement | null)?.focus({ preventScroll: true }));
	};
	useAskedToEdit(article, edit);
	const author = useUserName(message.user);
	const name = message.username ?? author;
	const canAct = isNear && message.status === 'sent' && !message.isTombstone && !isEditing;
	return (
		<article
			ref={article}
			className={`message ${isContinued ? 'continued' : ''} ${isHighlighted ? 'highlighted' : ''} ${message.status}`}
			data-ts={message.ts}
			tabIndex={isTabStop ? 0 : -1}
			aria-label={`${name}, ${message.ts ? timeOf(message.ts) : 'sending'}`}
			onPointerEnter={() => setNear(true)}
			// A message that appears under a resting pointer gets no pointerenter.
			onPointerMove={() => setNear(true)}
			onPointerLeave={({ currentTarget, pointerType }) => {
				// On touch screens the pointer leaves before the tap becomes a click: the tapped button must still be there.
				const isTapped = pointerType !== 'mouse' && currentTarget.contains(document.activeElement);
				if (!isTapped) setNear(false);
			}}
			onFocus={() => setNear(true)}
			onBlur={({ currentTarget, relatedTarget }) => {
				if (!currentTarget.contains(relatedTarget)) setNear(false);
			}}
		>
			<div className="message-side">
				{isContinued ? (
					isNear &&
					message.ts && (
						<time className="message-time" title={exactTime(message.ts)} dateTime={message.ts}>
							{shortTime(message.ts)}
						</time>
					)
				) : (
					<PersonAvatar id={message.user} name={name} emoji={emojiNamed(message.iconEmoji ?? '')} />
				)}
			</div>
			<div className="message-main">
				{!isContinued && (
					<header>
						<strong className="message-author" dir="auto">
							{name || '…'}
						</strong>
						{message.username !== null && (
							<span className="hint" title={`Posted by ${author}`}>
								bot
							</span>
						)}
						{message.ts && (
							<time title={exactTime(message.ts)} dateTime={message.ts}>
								{timeOf(message.ts)}
							</time>
						)}
						{message.isBroadcast && !isInThread && <span className="hint">replied in a thread</span>}
					</header>
				)}
				{isEditing ? (
					<EditBox message={message} onDone={stopEditing} />
				) : (
					<Folding
						className={message.isMe ? 'message-text about-author' : 'message-text'}
						text={message.text}
					>
						{message.isTombstone ? (
							<em className="hint">This message was deleted.</em>
						) : (
							<MessageBody content={message} hasControls />
						)}
						{message.edited && !message.isTombstone && <span className="hint"> (edited)</span>}
					</Folding>
				)}
				{message.blocks && !message.isTombstone && (
					<Controls
						blocks={message.blocks}
						container={{ type: 'message', channel_id: message.channel, message_ts: message.ts }}
					/>
				)}
				{!message.isTombstone && <MessageFiles message={message} />}
				<Reactions message={message} />
				{message.status === 'failed' && <NotSent message={message} />}
				{showsThread && message.replyCount > 0 && <ThreadSummaryLine message={message} />}
			</div>
			{canAct && <MessageActions message={message} isInThread={isInThread} onEdit={edit} />}
		</article>
	);
});
