import { useClient } from '@tidemark/client/react';
import { useCallback, useRef, useState } from 'react';
import { type Command, commandIn } from '../apps/commands.ts';
import { EphemeralMessages } from '../apps/EphemeralMessages.tsx';
import { AttachButton } from '../files/AttachButton.tsx';
import { ChosenFiles } from '../files/ChosenFiles.tsx';
import { addFiles, MAX_FILES, placeOf, takeFiles, useChosen } from '../files/chosen.ts';
import { useDropped } from '../files/dropping.ts';
import { UploadRows } from '../files/UploadRows.tsx';
import { startUpload } from '../files/uploads.ts';
import { useSelf } from '../session/names.ts';
import { toast, toastResult } from '../session/toast.tsx';
import { plural } from '../ui/format.ts';
import { addToDraft, draftOf, saveDraft } from './drafts.ts';
import { NonMembersWarning } from './NonMembersWarning.tsx';
import { TypingLine } from './TypingLine.tsx';
import { WriteBox } from './WriteBox.tsx';
import { toWire } from './wire-text.ts';

const notSentText = (error: unknown): string =>
	(error as { code?: string }).code === 'outcome_unknown'
		? 'It is unknown whether the message was sent. See the note below it before you send it again.'
		: 'The message was not sent. See the reason below it, then send it again or discard it.';

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

/** The text box of a conversation or thread: keeps the draft, sends messages, uploads files and runs commands of apps. */
export function Composer({ channel, threadTs, label, typing, isFocused, onSent, onUp, onBack }: Props) {
	const client = useClient();
	const self = useSelf();
	const [initial, setInitial] = useState(() => draftOf(self, channel, threadTs));
	/** Rises each time a text is put back: the text box then starts again with the draft. */
	const [boxKey, setBoxKey] = useState(0);
	const [text, setText] = useState(initial);
	/** The last sent text, until the user types again. */
	const [sentText, setSentText] = useState('');
	const [isBroadcast, setBroadcast] = useState(false);
	const conversation = client.conversation(channel);

	const place = placeOf(channel, threadTs);
	const files = useChosen(place);
	const add = useCallback(
		(some: readonly File[]) => {
			const left = addFiles(place, some);
			if (left > 0)
				toast(
					`A message can have ${MAX_FILES} files. ${plural(left, 'file was', 'files were')} not added: send the rest in another message.`,
				);
		},
		[place],
	);
	const element = useRef<HTMLDivElement>(null);
	const isDraggedOver = useDropped(element, add);

	/** Returns an unsent text to the box, before anything that the user has typed since. */
	const putBack = useCallback(
		(written: string) => {
			const draft = addToDraft(self, channel, threadTs, written);
			setInitial(draft);
			setText(draft);
			setBoxKey((before) => before + 1);
		},
		[self, channel, threadTs],
	);
	const run = (command: Command, text: string): void => {
		const args = { channel, ...command, ...(threadTs ? { thread_ts: threadTs } : {}) };
		const running = client.call('chat.command', args);
		toastResult(running);
		running.catch(() => putBack(text));
	};
	const post = (text: string): void => {
		const { users, conversations } = client.getSnapshot();
		const options = threadTs ? { threadTs, broadcast: isBroadcast } : {};
		// `linkNames`: the server resolves names that this page does not know. A failed message stays in the list, with the reason.
		void conversation
			.post(toWire(text, users, conversations.values()), { ...options, linkNames: /[@#]/.test(text) })
			.catch((error: unknown) => toast(notSentText(error)));
	};
	/** Posts at once, unless the text may be a command of an app: then it stays a draft until the commands are loaded. */
	const send = async (text: string): Promise<void> => {
		if (files.length > 0) {
			const inThread = threadTs ? { threadTs } : {};
			startUpload(client, { user: self, channel, ...inThread, files: takeFiles(place), written: text });
			return;
		}
		if (!text.startsWith('/')) return post(text);
		saveDraft(self, channel, threadTs, text);
		const command = await commandIn(client, text).catch(() => null);
		if (draftOf(self, channel, threadTs) === text) saveDraft(self, channel, threadTs, '');
		if (command) run(command, text);
		else post(text);
	};

	return (
		<div className="composer" ref={element}>
			{isDraggedOver && (
				<p className="drop-hint">
					<span>Drop files to share them here</span>
				</p>
			)}
			<EphemeralMessages channel={channel} />
			<UploadRows place={place} onText={putBack} />
			<ChosenFiles place={place} />
			<WriteBox
				key={boxKey}
				label={label}
				initial={initial}
				sendLabel="Send"
				isFocused={isFocused || boxKey > 0}
				before={<AttachButton onFiles={add} />}
				canSendEmpty={files.length > 0}
				onPasteFiles={add}
				{...(onUp ? { onUp } : {})}
				{...(onBack ? { onBack } : {})}
				onChange={(written) => {
					setText(written);
					if (written !== '') setSentText('');
					saveDraft(self, channel, threadTs, written);
					if (written !== '') conversation.sendTyping(threadTs);
				}}
				onSend={(written) => {
					void send(written);
					setSentText(written);
					setBroadcast(false);
					onSent();
				}}
			/>
			<NonMembersWarning channel={channel} text={text || sentText} isSent={text === ''} />
			<div className="composer-foot">
				<TypingLine users={typing} />
				{threadTs && (
					<label className="broadcast">
						<input
							type="checkbox"
							checked={isBroadcast && files.length === 0}
							disabled={files.length > 0}
							onChange={({ target }) => setBroadcast(target.checked)}
						/>
						Also send to the conversation{files.length > 0 && ' (not possible with files)'}
					</label>
				)}
			</div>
		</div>
	);
}
