import type { Message } from '@tidemark/client';
import { useClient } from '@tidemark/client/react';
import { WriteBox } from '../composer/WriteBox.tsx';
import { fromWire, toWire } from '../composer/wire-text.ts';
import { showToast } from '../session/toast.tsx';

/** The text of one's own message, in place of it. */
export function EditBox({ message, onDone }: { readonly message: Message; readonly onDone: () => void }) {
	const client = useClient();
	const draft = fromWire(message.text, client.getSnapshot().users);
	return (
		<WriteBox
			label="Edit message"
			initial={draft}
			sendLabel="Save"
			isFocused
			onCancel={onDone}
			onSend={(text) => {
				const { users, conversations } = client.getSnapshot();
				const changed = toWire(text, users, conversations.values());
				if (changed !== message.text)
					showToast(client.conversation(message.channel).edit(message.ts, changed));
				onDone();
			}}
		/>
	);
}
