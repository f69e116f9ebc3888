import type { Conversation } from '@tidemark/client';
import { useSelected } from '@tidemark/client/react';
import { useState } from 'react';

/** The open conversation as it was when it was opened, so that it keeps its place in the sidebar until another one is opened. */
export function useHeld(current: string | null): Conversation | null {
	const conversation = useSelected(({ conversations }) =>
		current === null ? null : (conversations.get(current) ?? null),
	);
	const [held, setHeld] = useState(conversation);
	// A new conversation may be opened before it is loaded: it is held once it is.
	if (conversation?.id !== held?.id) setHeld(conversation);
	return conversation?.id === held?.id ? held : conversation;
}
