import { useClient } from '@tidemark/client/react';
import { useState } from 'react';
import { everybody } from '../session/everybody.ts';
import { say } from '../session/toast.tsx';
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
}

/** What was begun elsewhere is there when one comes back. */
const drafts = new Map<string, string>();

export function Composer({ channel, threadTs, label, typing, isFocused, onSent, onUp }: Props) {
	const client = useClient();
	const place = `${channel} ${threadTs ?? ''}`;
	const [initial] = useState(() => drafts.get(place) ?? '');
	const [isBroadcast, setBroadcast] = useState(false);
	const conversation = client.conversation(channel);

	const post = async (text: string): Promise<void> => {
		// Names become mentions when it is known whose they are.
		if (text.includes('@')) await everybody(client);
		const wire = toWire(text, client.getSnapshot().users);
		const options = threadTs ? { threadTs, broadcast: isBroadcast } : {};
		// What fails stays in its place, with the reason; here it only must not go by unheard.
		await conversation.post(wire, options).catch(() => say('The message was not sent.'));
	};

	return (
		<div className="composer">
			<WriteBox
				label={label}
				initial={initial}
				sendLabel="Send"
				isFocused={isFocused}
				{...(onUp ? { onUp } : {})}
				onChange={(text) => {
					drafts.set(place, text);
					if (text !== '') conversation.sendTyping(threadTs);
				}}
				onSend={(text) => {
					void post(text);
					setBroadcast(false);
					onSent();
				}}
			/>
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
