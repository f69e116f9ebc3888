import { ApiError, type ExplainedItem, type Explanation } from '@tidemark/client';
import { useSelected } from '@tidemark/client/react';
import { useEffect, useState } from 'react';
import { Folding } from '../message/Folding.tsx';
import { MessageBody } from '../message/MessageBody.tsx';
import { useWhole } from '../message/whole.ts';
import { titledName, useConversationName, useUserName } from '../session/names.ts';
import { PersonAvatar } from '../session/PersonAvatar.tsx';
import { formatRoute, parseRoute, toConversation } from '../session/route.ts';
import { exactTime, plural, whenOf } from '../ui/format.ts';
import { Empty, Failed, Loading } from '../ui/states.tsx';

/** The messages behind a badge, each with its reason, as the server counts them. */

const REASONS: Readonly<Record<ExplainedItem['reasons'][number], string>> = {
	dm: 'A direct message to you',
	direct_mention: 'It mentions you',
	channel_mention: 'It is for the whole channel',
	thread_mention: 'A reply that mentions you',
};

interface Props {
	readonly ask: () => Promise<Explanation>;
	/** Loaded again when this changes. */
	readonly badge: number;
	readonly onOpen?: () => void;
}

export function ExplainedList({ ask, badge, onOpen }: Props) {
	const [answer, setAnswer] = useState<Explanation | null>(null);
	const [error, setError] = useState<string | null>(null);
	const [attempt, setAttempt] = useState(0);
	// biome-ignore lint/correctness/useExhaustiveDependencies: another badge has another explanation
	useEffect(() => {
		let isCurrent = true;
		setError(null);
		ask().then(
			(explanation) => isCurrent && setAnswer(explanation),
			(reason) => isCurrent && setError(reason instanceof ApiError ? reason.code : 'network_error'),
		);
		return () => {
			isCurrent = false;
		};
	}, [ask, badge, attempt]);
	if (error) return <Failed error={error} onRetry={() => setAttempt(attempt + 1)} />;
	if (!answer) return <Loading lines={3} />;
	if (answer.items.length === 0)
		return (
			<Empty icon="check" title="You’re all caught up">
				The badge counts messages that mention you or the whole channel, and direct messages.
			</Empty>
		);
	return (
		<>
			<p className="explained-sum">
				{plural(answer.badge, 'message makes', 'messages make')} up this badge
				{answer.hasMore ? '; the newest are shown' : ''}.
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
	const said = useWhole(item);
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
					{/* It covers the whole card; links in the text stand above it. */}
					<a className="explained-link" href={formatRoute(route)} onClick={onOpen}>
						<strong>{author || '…'}</strong>
					</a>
					<span className="hint">
						{conversation?.kind === 'im' ? 'directly' : `in ${titledName(conversation, name)}`}
					</span>
					<time title={exactTime(item.ts)} dateTime={item.ts}>
						{whenOf(item.ts)}
					</time>
				</div>
				<Folding className="message-text" text={said.text}>
					<MessageBody said={said} />
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
