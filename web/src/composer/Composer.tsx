import { useClient } from '@tidemark/client/react';
import { useState } from 'react';
import { commandIn } from '../apps/commands.ts';
import { OnlyYou } from '../apps/OnlyYou.tsx';
import { everybody } from '../session/everybody.ts';
import { useSelf } from '../session/names.ts';
import { say, tell } from '../session/toast.tsx';
import { draftOf, keepDraft } from './drafts.ts';
import { Outsiders } from './Outsiders.tsx';
import { TypingLine } from './TypingLine.tsx';
import { WriteBox } from './WriteBox.tsx';
import { toWire } from './wire-text.ts';

interface Props {
	readonly channel: string;
	readonly threadTs?: string;
	readonly label: string;
	readonly typing: readonly string[];
	readonly isFocused: boolean;
	readonly onSent: () => void;
	readonly onUp?: () => void;
	readonly onBack?: () => boolean;
}

export function Composer({ channel, threadTs, label, typing, isFocused, onSent, onUp, onBack }: Props) {
	const client = useClient();
	const self = useSelf();
	const [initial] = useState(() => draftOf(self, channel, threadTs));
	const [text, setText] = useState(initial);
	const [isBroadcast, setBroadcast] = useState(false);
	const conversation = client.conversation(channel);

	const post = async (text: string): Promise<void> => {
		const command = text.startsWith('/') ? await commandIn(client, text).catch(() => null) : null;
		if (command) {
			tell(
				client.call('chat.command', { channel, ...command, ...(threadTs ? { thread_ts: threadTs } : {}) }),
			);
			return;
		}
		// Names become mentions when it is known whose they are.
		if (text.includes('@')) await everybody(client);
		const { users, conversations } = client.getSnapshot();
		const wire = toWire(text, users, conversations.values());
		const options = threadTs ? { threadTs, broadcast: isBroadcast } : {};
		// What fails stays in its place, with the reason; here it only must not go by unheard.
		await conversation.post(wire, options).catch(() => say('The message was not sent.'));
	};

	return (
		<div className="composer">
			<OnlyYou channel={channel} />
			<WriteBox
				label={label}
				initial={initial}
				sendLabel="Send"
				isFocused={isFocused}
				{...(onUp ? { onUp } : {})}
				{...(onBack ? { onBack } : {})}
				onChange={(written) => {
					setText(written);
					keepDraft(self, channel, threadTs, written);
					if (written !== '') conversation.sendTyping(threadTs);
				}}
				onSend={(written) => {
					void post(written);
					setBroadcast(false);
					onSent();
				}}
			/>
			<Outsiders channel={channel} text={text} />
			<div className="composer-foot">
				<TypingLine users={typing} />
				{threadTs && (
					<label className="broadcast">
						<input
							type="checkbox"
							checked={isBroadcast}
							onChange={({ target }) => setBroadcast(target.checked)}
						/>
						Also send to the conversation
					</label>
				)}
			</div>
		</div>
	);
}
