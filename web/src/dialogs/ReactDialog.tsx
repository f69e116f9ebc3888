import type { Message } from '@tidemark/client';
import { useClient } from '@tidemark/client/react';
import { useState } from 'react';
import { findEmoji } from '../message/emoji.ts';
import { toastResult } from '../session/toast.tsx';
import { Chooser } from '../ui/Chooser.tsx';
import { Dialog } from '../ui/Dialog.tsx';

const MAX_SHOWN = 30;
const FREQUENT = [
	'+1',
	'heart',
	'joy',
	'tada',
	'eyes',
	'white_check_mark',
	'pray',
	'rocket',
	'fire',
	'thinking_face',
];

/** Chooses an emoji to react with: frequent ones first, others by name. */
export function ReactDialog({
	message,
	onClose,
}: {
	readonly message: Message;
	readonly onClose: () => void;
}) {
	const client = useClient();
	const [written, setWritten] = useState('');
	const wanted = written.trim().toLowerCase().replaceAll(':', '');
	const found =
		wanted === ''
			? FREQUENT.flatMap((name) => findEmoji(name, 20).filter(([one]) => one === name))
			: findEmoji(wanted, MAX_SHOWN);
	const react = (name: string) => {
		onClose();
		toastResult(client.conversation(message.channel).react(message.ts, name));
	};
	return (
		<Dialog title="Add a reaction" onClose={onClose} isChooser>
			<Chooser
				label="Name of an emoji"
				written={written}
				onWrite={setWritten}
				groups={[
					{
						heading: wanted === '' ? 'Frequently used' : 'Emoji',
						choices: found.map(([name, emoji]) => ({
							key: name,
							icon: <span className="row-icon">{emoji}</span>,
							name: `:${name}:`,
							run: () => react(name),
						})),
					},
				]}
				nothing="No matches. Try another name."
			/>
		</Dialog>
	);
}
