import { useClient } from '@tidemark/client/react';
import { useCallback, useRef, useState } from 'react';
import { type Command, commandIn } from '../apps/commands.ts';
import { OnlyYou } from '../apps/OnlyYou.tsx';
import { AttachButton } from '../files/AttachButton.tsx';
import { ChosenFiles } from '../files/ChosenFiles.tsx';
import { addFiles, MAX_FILES, placeOf, takeFiles, useChosen } from '../files/chosen.ts';
import { useDropped } from '../files/dropping.ts';
import { UploadRows } from '../files/UploadRows.tsx';
import { startUpload } from '../files/uploads.ts';
import { useSelf } from '../session/names.ts';
import { say, showToast } from '../session/toast.tsx';
import { plural } from '../ui/format.ts';
import { addToDraft, draftOf, keepDraft } from './drafts.ts';
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
	const [initial, setInitial] = useState(() => draftOf(self, channel, threadTs));
	/** How often a text was put back: each time, the box starts again with the draft. */
	const [times, setTimes] = useState(0);
	const [text, setText] = useState(initial);
	const [isBroadcast, setBroadcast] = useState(false);
	const conversation = client.conversation(channel);

	const place = placeOf(channel, threadTs);
	const files = useChosen(place);
	const add = useCallback(
		(some: readonly File[]) => {
			const left = addFiles(place, some);
			if (left > 0)
				say(
					`A message can have ${MAX_FILES} files. ${plural(left, 'file')} left out: send the rest in another message.`,
				);
		},
		[place],
	);
	const element = useRef<HTMLDivElement>(null);
	const isOver = useDropped(element, add);

	/** Puts a text that could not be sent before what the user has typed since. */
	const putBack = useCallback(
		(written: string) => {
			const draft = addToDraft(self, channel, threadTs, written);
			setInitial(draft);
			setText(draft);
			setTimes((before) => before + 1);
		},
		[self, channel, threadTs],
	);
	const run = (command: Command, text: string): void => {
		const args = { channel, ...command, ...(threadTs ? { thread_ts: threadTs } : {}) };
		const running = client.call('chat.command', args);
		showToast(running);
		running.catch(() => putBack(text));
	};
	const post = (text: string): void => {
		const { users, conversations } = client.getSnapshot();
		const options = threadTs ? { threadTs, broadcast: isBroadcast } : {};
		// The server resolves names that this page does not know. A failed message stays in the list, with the reason.
		void conversation
			.post(toWire(text, users, conversations.values()), { ...options, linkNames: /[@#]/.test(text) })
			.catch(() => say('The message was not sent.'));
	};
	/** Posts at once, unless the text may be a command: then it stays a draft until that is known. */
	const send = async (text: string): Promise<void> => {
		if (files.length > 0) {
			const inThread = threadTs ? { threadTs } : {};
			startUpload(client, { user: self, channel, ...inThread, files: takeFiles(place), written: text });
			return;
		}
		if (!text.startsWith('/')) return post(text);
		keepDraft(self, channel, threadTs, text);
		const command = await commandIn(client, text).catch(() => null);
		if (draftOf(self, channel, threadTs) === text) keepDraft(self, channel, threadTs, '');
		if (command) run(command, text);
		else post(text);
	};

	return (
		<div className="composer" ref={element}>
			{isOver && (
				<p className="drop-hint">
					<span>Drop files to share them here</span>
				</p>
			)}
			<OnlyYou channel={channel} />
			<UploadRows place={place} onText={putBack} />
			<ChosenFiles place={place} />
			<WriteBox
				key={times}
				label={label}
				initial={initial}
				sendLabel="Send"
				isFocused={isFocused || times > 0}
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
					void send(written);
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
