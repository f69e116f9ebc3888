import type { Conversation } from '@tidemark/client';
import { useClient } from '@tidemark/client/react';
import { go, toScreen } from '../session/route.ts';
import { toastResult } from '../session/toast.tsx';
import { Question } from '../ui/Question.tsx';

interface Props {
	readonly conversation: Conversation;
	readonly onClose: () => void;
}

/** Asks before a user leaves a private channel, because the user cannot rejoin without being added. */
export function LeaveDialog({ conversation, onClose }: Props) {
	const client = useClient();
	const leave = () => {
		onClose();
		toastResult(
			client
				.conversation(conversation.id)
				.leave()
				.then(() => go(toScreen('inbox'))),
		);
	};
	return (
		<Question title={`Leave #${conversation.name}?`} no="Stay" yes="Leave" onNo={onClose} onYes={leave}>
			<p>This channel is private. You can rejoin only if a member adds you.</p>
		</Question>
	);
}
