import { useClient } from '@tidemark/client/react';
import { useCallback, useRef, useState } from 'react';
import { commandIn } from '../apps/commands.ts';
import { OnlyYou } from '../apps/OnlyYou.tsx';
import { AttachButton } from '../files/AttachButton.tsx';
import { ChosenFiles } from '../files/ChosenFiles.tsx';
import { addFiles, MOST_FILES, placeOf, takeFiles, useChosen } from '../files/chosen.ts';
import { useDropped } from '../files/dropping.ts';
import { UploadRows } from '../files/UploadRows.tsx';
import { startUpload } from '../files/uploads.ts';
import { everybody } from '../session/everybody.ts';
import { useSelf } from '../session/names.ts';
import { say, showToast } from '../session/toast.tsx';
import { plural } from '../ui/format.ts';
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

	const place = placeOf(channel, threadTs);
	const files = useChosen(place);
	const add = useCallback(
		(some: readonly File[]) => {
			const left = addFiles(place, some);
			if (left > 0) say(`A message takes ${MOST_FILES} files. ${plural(left, 'file')} left out.`);
		},
		[place],
	);
	const element = useRef<HTMLDivElement>(null);
	const isOver = useDropped(element, add);

	const wired = async (text: string): Promise<string> => {
		// Names become mentions when it is known whose they are.
		if (text.includes('@')) await everybody(client);
		const { users, conversations } = client.getSnapshot();
		return toWire(text, users, conversations.values());
	};
	const share = async (text: string): Promise<void> =>
		startUpload(client, {
			channel,
			...(threadTs ? { threadTs } : {}),
			files: takeFiles(place),
			comment: await wired(text),
		});
	const post = async (text: string): Promise<void> => {
		const command = text.startsWith('/') ? await commandIn(client, text).catch(() => null) : null;
		if (command) {
			showToast(
				client.call('chat.command', { channel, ...command, ...(threadTs ? { thread_ts: threadTs } : {}) }),
			);
			return;
		}
		const wire = await wired(text);
		const options = threadTs ? { threadTs, broadcast: isBroadcast } : {};
		// What fails stays in its place, with the reason; here it only must not go by unheard.
		await conversation.post(wire, options).catch(() => say('The message was not sent.'));
	};

	return (
		<div className="composer" ref={element}>
			{isOver && (
				<p className="drop-hint">
					<span>Drop files to share them here</span>
				</p>
			)}
			<OnlyYou channel={channel} />
			<UploadRows place={place} />
			<ChosenFiles place={place} />
			<WriteBox
				label={label}
				initial={initial}
				sendLabel="Send"
				isFocused={isFocused}
				before={<AttachButton onFiles={add} />}
				canSendEmpty={files.length > 0}
				onPasteFiles={add}
				{...(onUp ? { onUp } : {})}
				{...(onBack ? { onBack } : {})}
				onChange={(written) => {
					setText(written);
					keepDraft(self, channel, threadTs, written);
					if (written !== '') conversation.sendTyping(threadTs);
				}}
				onSend={(written) => {
					void (files.length > 0 ? share(written) : post(written));
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
