import { ApiError, type ExplainedItem, type Explanation } from '@tidemark/client';
import { useSelected } from '@tidemark/client/react';
import { useEffect, useState } from 'react';
import { Folding } from '../message/Folding.tsx';
import { useFullMessage } from '../message/full-message.ts';
import { MessageBody } from '../message/MessageBody.tsx';
import { titledName, useConversationName, useUserName } from '../session/names.ts';
import { PersonAvatar } from '../session/PersonAvatar.tsx';
import { formatRoute, parseRoute, toConversation } from '../session/route.ts';
import { exactTime, plural, whenOf } from '../ui/format.ts';
import { Empty, Failed, Loading } from '../ui/states.tsx';

/** The messages that a badge counts, each with the reason, as the server explains them. */

const REASONS: Readonly<Record<ExplainedItem['reasons'][number], string>> = {
	dm: 'Direct or group message',
	direct_mention: 'Mentions you',
	channel_mention: 'Mentions everybody (@channel or @here)',
	thread_mention: 'Reply that mentions you',
};

interface Props {
	readonly ask: () => Promise<Explanation>;
	/** The list is loaded again when the badge changes. */
	readonly badge: number;
	/** Called with the listed messages. */
	readonly onLoaded?: (items: readonly ExplainedItem[]) => void;
	readonly onOpen?: () => void;
}

export function ExplainedList({ ask, badge, onLoaded, onOpen }: Props) {
	const [answer, setAnswer] = useState<Explanation | null>(null);
	const [error, setError] = useState<string | null>(null);
	const [attempt, setAttempt] = useState(0);
	// biome-ignore lint/correctness/useExhaustiveDependencies: another badge has another explanation
	useEffect(() => {
		let isCurrent = true;
		setError(null);
		ask().then(
			(explanation) => {
				if (!isCurrent) return;
				setAnswer(explanation);
				onLoaded?.(explanation.items);
			},
			(reason) => isCurrent && setError(reason instanceof ApiError ? reason.code : 'network_error'),
		);
		return () => {
			isCurrent = false;
		};
	}, [ask, badge, attempt, onLoaded]);
	if (error) return <Failed error={error} onRetry={() => setAttempt(attempt + 1)} />;
	if (!answer) return <Loading lines={3} />;
	if (answer.items.length === 0)
		return (
			<Empty icon="check" title="You’re all caught up">
				The badge counts messages that mention you or everybody, and direct and group messages.
			</Empty>
		);
	return (
		<>
			<p className="explained-sum">
				The badge counts {plural(answer.badge, 'message')}
				{answer.hasMore ? '; the newest ones are shown' : ''}.
			</p>
			<ul className="explained">
				{answer.items.toReversed().map((item) => (
					<Explained key={`${item.channel} ${item.ts}`} item={item} {...(onOpen ? { onOpen } : {})} />
				))}
			</ul>
		</>
	);
}

function Explained({ item, onOpen }: { readonly item: ExplainedItem; readonly onOpen?: () => void }) {
	const author = useUserName(item.user);
	const content = useFullMessage(item);
	const conversation = useSelected(({ conversations }) => conversations.get(item.channel) ?? null);
	const name = useConversationName(conversation);
	const isReply = item.threadTs !== null && item.threadTs !== item.ts;
	const route = isReply
		? { ...parseRoute(location.hash), thread: { channel: item.channel, ts: item.threadTs } }
		: toConversation(item.channel, item.ts);
	return (
		<li>
			<PersonAvatar id={item.user} name={author} />
			<div className="inbox-main">
				<div className="inbox-top">
					{/* This link covers the whole card; links in the text are in front of it. */}
					<a className="explained-link" href={formatRoute(route)} onClick={onOpen}>
						<strong>{author || '…'}</strong>
					</a>
					<span className="hint">
						{conversation?.kind === 'im' ? 'in a direct message' : `in ${titledName(conversation, name)}`}
					</span>
					<time title={exactTime(item.ts)} dateTime={item.ts}>
						{whenOf(item.ts)}
					</time>
				</div>
				<Folding className="message-text" text={content.text}>
					<MessageBody content={content} />
				</Folding>
				<div className="reasons">
					{item.reasons.map((reason) => (
						<span key={reason} className="reason">
							{REASONS[reason]}
						</span>
					))}
				</div>
			</div>
		</li>
	);
}
