import type { Conversation } from '@tidemark/client';
import { useSelected } from '@tidemark/client/react';
import { useState } from 'react';

/**
 * The open conversation, with the counts that it had when the user opened it. The sidebar sorts it by these counts, so that it keeps
 * its place until the user opens another one.
 */
export function useOpenedConversation(current: string | null): Conversation | null {
	const conversation = useSelected(({ conversations }) =>
		current === null ? null : (conversations.get(current) ?? null),
	);
	const [opened, setOpened] = useState(conversation);
	// A new conversation may be opened before it is loaded: then the first loaded state is used.
	if (conversation?.id !== opened?.id) setOpened(conversation);
	return conversation?.id === opened?.id ? opened : conversation;
}
