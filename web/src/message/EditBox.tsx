import type { Message } from '@tidemark/client';
import { useClient } from '@tidemark/client/react';
import { WriteBox } from '../composer/WriteBox.tsx';
import { fromWire, toWire } from '../composer/wire-text.ts';
import { toastResult } from '../session/toast.tsx';

/** Edits one of the user's messages in place. */
export function EditBox({ message, onDone }: { readonly message: Message; readonly onDone: () => void }) {
	const client = useClient();
	const draft = fromWire(message.text, client.getSnapshot().users);
	return (
		<WriteBox
			label="Edit message"
			initial={draft}
			sendLabel="Save"
			isFocused
			keepsText
			onCancel={onDone}
			onSend={(text) => {
				const { users, conversations } = client.getSnapshot();
				const changed = toWire(text, users, conversations.values());
				// The box closes when the server has acknowledged the edit. If the edit fails, the box keeps the text.
				const saved =
					changed === message.text
						? Promise.resolve()
						: client.conversation(message.channel).edit(message.ts, changed);
				toastResult(saved.then(onDone));
			}}
		/>
	);
}
