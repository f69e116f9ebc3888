import type { Message } from '@tidemark/client';
import { useClient } from '@tidemark/client/react';
import { showToast } from '../session/toast.tsx';
import { Dialog } from '../ui/Dialog.tsx';
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
		<Dialog title="Delete this message?" onClose={onClose}>
			<blockquote className="quoted">
				<MessageBody said={message} />
			</blockquote>
			<p className="hint">It disappears for everybody, and from all unread counts.</p>
			<div className="buttons">
				<button type="button" className="button" onClick={onClose}>
					Cancel
				</button>
				<button
					type="button"
					className="button danger"
					onClick={() => {
						showToast(conversation.delete(message.ts));
						onClose();
					}}
				>
					Delete
				</button>
			</div>
		</Dialog>
	);
}
