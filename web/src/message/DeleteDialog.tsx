import type { Message } from '@tidemark/client';
import { useClient } from '@tidemark/client/react';
import { showToast } from '../session/toast.tsx';
import { Question } from '../ui/Question.tsx';
import { MessageBody } from './MessageBody.tsx';

/** Deleting cannot be undone: it asks first. */
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
				showToast(conversation.delete(message.ts));
				onClose();
			}}
		>
			<blockquote className="quoted">
				<MessageBody said={message} />
			</blockquote>
			<p className="hint">It disappears for everybody, and from all unread counts.</p>
		</Question>
	);
}
