import type { Conversation } from '@tidemark/client';
import { useClient } from '@tidemark/client/react';
import { ExplainedList } from '../lists/ExplainedList.tsx';
import { titledName } from '../session/names.ts';
import { Dialog } from '../ui/Dialog.tsx';

interface Props {
	readonly conversation: Conversation;
	readonly name: string;
	readonly onClose: () => void;
}

export function ExplainDialog({ conversation, name, onClose }: Props) {
	const store = useClient().conversation(conversation.id);
	return (
		<Dialog title={`Why does ${titledName(conversation, name)} have a badge?`} onClose={onClose}>
			<ExplainedList ask={store.explain} badge={conversation.badgeCount} onOpen={onClose} />
		</Dialog>
	);
}
