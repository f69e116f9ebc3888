import type { Message } from '@tidemark/client';
import { useClient } from '@tidemark/client/react';
import { toastResult } from '../session/toast.tsx';
import { Question } from '../ui/Question.tsx';
import { MessageBody } from './MessageBody.tsx';

/** Asks before a message is deleted, because that cannot be undone. */
export function DeleteDialog({
	message,
	onClose,
}: {
	readonly message: Message;
	readonly onClose: () => void;
}) {
	const conversation = useClient().conversation(message.channel);
	return (
		<Question
			title="Delete this message?"
			no="Cancel"
			yes="Delete"
			onNo={onClose}
			onYes={() => {
				toastResult(conversation.delete(message.ts));
				onClose();
			}}
		>
			<blockquote className="quoted">
				<MessageBody content={message} />
			</blockquote>
			<p className="hint">The message disappears for everybody. You cannot undo this.</p>
		</Question>
	);
}
