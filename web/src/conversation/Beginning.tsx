import type { Conversation } from '@tidemark/client';

/** Above the first message of all. */
export const Beginning = ({
	conversation,
	name,
}: {
	readonly conversation: Conversation;
	readonly name: string;
}) => {
	const isChannel = conversation.kind === 'public' || conversation.kind === 'private';
	return (
		<div className="beginning">
			<h2>{isChannel ? `#${name}` : name}</h2>
			<p>
				{isChannel ? 'This is where the channel begins.' : 'This is where your conversation begins.'}{' '}
				{conversation.purpose}
			</p>
		</div>
	);
};
