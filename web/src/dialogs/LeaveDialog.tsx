import type { Conversation } from '@tidemark/client';
import { useClient } from '@tidemark/client/react';
import { go, toScreen } from '../session/route.ts';
import { showToast } from '../session/toast.tsx';
import { Dialog } from '../ui/Dialog.tsx';

interface Props {
	readonly conversation: Conversation;
	readonly onClose: () => void;
}

/** A private channel cannot be joined again: it asks before one leaves. */
export function LeaveDialog({ conversation, onClose }: Props) {
	const client = useClient();
	const leave = () => {
		onClose();
		showToast(
			client
				.conversation(conversation.id)
				.leave()
				.then(() => go(toScreen('inbox'))),
		);
	};
	return (
		<Dialog title={`Leave #${conversation.name}?`} onClose={onClose}>
			<p>This channel is private. You can rejoin only if a member adds you.</p>
			<div className="buttons">
				<button type="button" className="button" onClick={onClose}>
					Stay
				</button>
				<button type="button" className="button danger" onClick={leave}>
					Leave
				</button>
			</div>
		</Dialog>
	);
}
