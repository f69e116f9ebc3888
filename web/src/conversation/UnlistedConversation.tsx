import { ApiError, type Message } from '@tidemark/client';
import { useClient } from '@tidemark/client/react';
import { useEffect, useState } from 'react';
import { go, toScreen } from '../session/route.ts';
import { BackButton } from '../ui/BackButton.tsx';
import type { IconName } from '../ui/icons.tsx';
import { Empty, errorText, Failed, Loading } from '../ui/states.tsx';
import { ChannelPreview } from './ChannelPreview.tsx';

/** The part of the answer of conversations.info that the page shows. */
interface ConversationInfo {
	readonly name: string;
	readonly is_archived: boolean;
	readonly is_member: boolean;
	readonly topic?: { readonly value: string };
}

/**
 * A conversation that is not in the sidebar, because it is archived or the user is not in it: its newest messages, and a button to
 * join or unarchive it.
 */
export function UnlistedConversation({
	id,
	messages,
}: {
	readonly id: string;
	readonly messages: readonly Message[];
}) {
	const client = useClient();
	const [info, setInfo] = useState<ConversationInfo | null>(null);
	const [error, setError] = useState<string | null>(null);
	const [attempt, setAttempt] = useState(0);
	// biome-ignore lint/correctness/useExhaustiveDependencies: runs again for another attempt
	useEffect(() => {
		let isCurrent = true;
		setError(null);
		client.call('conversations.info', { channel: id }).then(
			({ channel }) => isCurrent && setInfo(channel),
			(reason) => isCurrent && setError(reason instanceof ApiError ? reason.code : 'network_error'),
		);
		return () => {
			isCurrent = false;
		};
	}, [client, id, attempt]);
	const join = () => client.join(id).catch((reason: ApiError) => setError(reason.code ?? 'network_error'));

	const unarchive = () =>
		client
			.call('conversations.unarchive', { channel: id })
			.then(() => setAttempt(attempt + 1))
			.catch((reason: ApiError) => setError(reason.code ?? 'network_error'));

	const isUnknown = error === 'channel_not_found';
	return (
		<main className="pane" aria-label="Conversation">
			<header className="pane-head only-narrow-head">
				<BackButton />
			</header>
			{isUnknown ? (
				<Explained
					icon="question"
					title="Conversation not found"
					text="It does not exist, or it is private. To read a private channel, ask a member to add you."
				/>
			) : error ? (
				<Failed error={error} onRetry={() => setAttempt(attempt + 1)} />
			) : !info || (info.is_member && !info.is_archived) ? (
				// The user has just created or joined the conversation: the next event brings it.
				<Loading label="Loading the conversation" />
			) : (
				<ChannelPreview name={info.name} topic={info.topic?.value ?? ''} messages={messages}>
					{info.is_archived ? (
						<>
							<span>{info.is_member ? 'This channel is archived.' : errorText('is_archived')}</span>
							{info.is_member && (
								<button type="button" className="button primary" onClick={unarchive}>
									Unarchive
								</button>
							)}
						</>
					) : (
						<>
							<span>You are not in this channel.</span>
							<button type="button" className="button primary" onClick={join}>
								Join
							</button>
						</>
					)}
					<button type="button" className="button" onClick={() => go(toScreen('inbox'))}>
						Back to the inbox
					</button>
				</ChannelPreview>
			)}
		</main>
	);
}

interface ExplainedProps {
	readonly icon: IconName;
	readonly title: string;
	readonly text: string;
}

const Explained = ({ icon, title, text }: ExplainedProps) => (
	<Empty
		icon={icon}
		title={title}
		actions={
			<button type="button" className="button" onClick={() => go(toScreen('inbox'))}>
				Back to the inbox
			</button>
		}
	>
		{text}
	</Empty>
);
