import type { Conversation } from '@tidemark/client';
import { isChannel, titledName } from '../session/names.ts';

/** Shown above the first message of the conversation. */
export const Beginning = ({
	conversation,
	name,
}: {
	readonly conversation: Conversation;
	readonly name: string;
}) => (
	<div className="beginning">
		<h2>{titledName(conversation, name)}</h2>
		<p>
			{isChannel(conversation)
				? 'This is where the channel begins.'
				: 'This is where your conversation begins.'}{' '}
			{conversation.purpose}
		</p>
	</div>
);
