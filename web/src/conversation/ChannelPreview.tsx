import type { Message } from '@tidemark/client';
import type { ReactNode } from 'react';
import { MessageBody } from '../message/MessageBody.tsx';
import { useUserName } from '../session/names.ts';
import { PersonAvatar } from '../session/PersonAvatar.tsx';
import { exactTime, whenOf } from '../ui/format.ts';
import { Icon } from '../ui/icons.tsx';

interface Props {
	readonly name: string;
	readonly topic: string;
	readonly messages: readonly Message[];
	/** The available actions: join, unarchive. */
	readonly children: ReactNode;
}

const SHOWN = 30;

/** A channel that is not in the sidebar: its newest messages, without marking them read. */
export const ChannelPreview = ({ name, topic, messages, children }: Props) => (
	<>
		<header className="pane-head">
			<span className="row-icon">
				<Icon name="hash" />
			</span>
			<div className="pane-title">
				<h1 dir="auto">{name}</h1>
				{topic && <p dir="auto">{topic}</p>}
			</div>
		</header>
		<section className="scroller preview" aria-label="Newest messages">
			{messages.length === 0 && <p className="hint">No messages yet.</p>}
			{messages.slice(-SHOWN).map((message) => (
				<PreviewRow key={message.ts} message={message} />
			))}
		</section>
		<footer className="preview-foot">{children}</footer>
	</>
);

function PreviewRow({ message }: { readonly message: Message }) {
	const author = useUserName(message.user);
	return (
		<article className="message" aria-label={author}>
			<div className="message-side">
				<PersonAvatar id={message.user} name={author} />
			</div>
			<div className="message-main">
				<header>
					<strong className="message-author" dir="auto">
						{message.username ?? (author || '…')}
					</strong>
					<time title={exactTime(message.ts)} dateTime={message.ts}>
						{whenOf(message.ts)}
					</time>
				</header>
				<div className="message-text" dir="auto">
					{message.isTombstone ? (
						<em className="hint">This message was deleted.</em>
					) : (
						<MessageBody content={message} />
					)}
				</div>
			</div>
		</article>
	);
}
