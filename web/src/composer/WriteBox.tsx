import { useClient, useSelected } from '@tidemark/client/react';
import {
	type KeyboardEvent,
	type ReactNode,
	useEffect,
	useId,
	useLayoutEffect,
	useRef,
	useState,
} from 'react';
import { flushSync } from 'react-dom';
import { runShortcut, useAppFeatures } from '../apps/features.ts';
import { filesIn } from '../files/dropping.ts';
import { loadEverybody } from '../session/load-everybody.ts';
import { PersonAvatar } from '../session/PersonAvatar.tsx';
import { toastResult } from '../session/toast.tsx';
import { IconButton } from '../ui/IconButton.tsx';
import { type Candidate, candidatesFor, complete, writtenName } from './completion.ts';
import { lengthWarning, MAX_CHARACTERS } from './length.ts';

/** The text box: grows with its text, completes names, sends with Enter. */

interface Props {
	readonly label: string;
	readonly initial: string;
	readonly sendLabel: string;
	readonly isFocused?: boolean;
	readonly onSend: (text: string) => void;
	readonly onChange?: (text: string) => void;
	/** Called on Esc; without it, the page handles Esc. */
	readonly onCancel?: () => void;
	/** Called on the arrow up in an empty box. */
	readonly onUp?: () => void;
	/** Called on Shift Tab. Returns false if there are no messages: then the browser moves the focus. */
	readonly onBack?: () => boolean;
	/** Buttons before the text box. */
	readonly before?: ReactNode;
	/** Files are attached, so the text may be empty. */
	readonly canSendEmpty?: boolean;
	readonly onPasteFiles?: (files: readonly File[]) => void;
	/** The text stays in the box after sending. */
	readonly keepsText?: boolean;
}

const NO_CANDIDATES: readonly Candidate[] = [];

export function WriteBox({
	label,
	initial,
	sendLabel,
	isFocused = false,
	onSend,
	onChange,
	onCancel,
	onUp,
	onBack,
	before,
	canSendEmpty = false,
	onPasteFiles,
	keepsText = false,
}: Props) {
	const client = useClient();
	const listId = useId();
	const box = useRef<HTMLTextAreaElement>(null);
	const [text, setText] = useState(initial);
	const [caret, setCaret] = useState<number | null>(null);
	const [chosen, setChosen] = useState(0);
	/** The caret right after a completion, which ends with a space; null once the user has typed something else. */
	const completedAt = useRef<number | null>(null);
	const candidates = useCandidates(text, caret);
	const isCompleting = candidates.length > 0;
	const isTooLong = text.length > MAX_CHARACTERS;
	const canSend = !isTooLong && (canSendEmpty || text.trim() !== '');
	const warning = lengthWarning(text);

	useLayoutEffect(() => {
		if (isFocused) {
			box.current?.focus();
			box.current?.setSelectionRange(initial.length, initial.length);
		}
	}, [isFocused, initial]);

	const write = (next: string, nextCaret: number | null) => {
		setText(next);
		setCaret(nextCaret);
		setChosen(0);
		completedAt.current = null;
		onChange?.(next);
	};
	const take = (candidate: Candidate) => {
		if (candidate.shortcut) {
			write('', null);
			toastResult(runShortcut(client, candidate.shortcut));
			return;
		}
		const done = complete(text, caret ?? text.length, candidate.handle);
		// At once: keys that the user presses before the next frame must land behind the completion.
		flushSync(() => write(done.text, null));
		box.current?.focus();
		box.current?.setSelectionRange(done.caret, done.caret);
		completedAt.current = done.caret;
	};
	const send = () => {
		if (!canSend) return;
		if (!keepsText) write('', null);
		onSend(text.trim());
	};

	/** Handles a key while the list of candidates is open. Returns whether the key was used. */
	const handleChoosingKey = (event: KeyboardEvent): boolean => {
		const candidate = candidates[chosen];
		if (event.key === 'ArrowDown') setChosen((chosen + 1) % candidates.length);
		else if (event.key === 'ArrowUp') setChosen((chosen - 1 + candidates.length) % candidates.length);
		else if (event.key === 'Escape') setCaret(null);
		else if ((event.key === 'Enter' || event.key === 'Tab') && candidate) take(candidate);
		else return false;
		return true;
	};
	const handleWritingKey = (event: KeyboardEvent): boolean => {
		if (event.key === 'Enter' && !event.shiftKey) send();
		else if (event.key === 'Escape' && onCancel) onCancel();
		else if (event.key === 'ArrowUp' && text === '' && onUp && !event.altKey) onUp();
		else if (event.key === 'Tab' && event.shiftKey && onBack) return onBack();
		else return false;
		return true;
	};

	return (
		<div className="write-box">
			{isCompleting && <Suggestions id={listId} candidates={candidates} chosen={chosen} onTake={take} />}
			{before}
			<textarea
				ref={box}
				rows={1}
				dir="auto"
				value={text}
				aria-describedby={warning ? `${listId}-warning` : undefined}
				aria-label={label}
				placeholder={label}
				aria-autocomplete="list"
				aria-haspopup="listbox"
				aria-controls={isCompleting ? listId : undefined}
				aria-activedescendant={isCompleting ? `${listId}-${chosen}` : undefined}
				onChange={({ target }) => write(target.value, target.selectionStart)}
				onBeforeInput={(event) => {
					const { selectionStart, selectionEnd } = event.currentTarget;
					const isBehind = selectionStart === completedAt.current && selectionEnd === selectionStart;
					// The completion added this space already.
					if (event.data === ' ' && isBehind) event.preventDefault();
					completedAt.current = null;
				}}
				onBlur={() => setCaret(null)}
				onPaste={(event) => {
					const files = filesIn(event.clipboardData);
					// A table copied from a spreadsheet comes as text and as a picture: paste the text.
					const isText = event.clipboardData.types.includes('text/plain');
					if (!onPasteFiles || files.length === 0 || isText) return;
					event.preventDefault();
					onPasteFiles(files);
				}}
				onKeyDown={(event) => {
					// The key is for the input method, which is composing a character.
					if (event.nativeEvent.isComposing) return;
					if (!(isCompleting ? handleChoosingKey(event) : handleWritingKey(event))) return;
					event.preventDefault();
					event.stopPropagation();
				}}
			/>
			{onCancel && <IconButton icon="close" label="Cancel" onClick={onCancel} />}
			<IconButton
				className="send"
				icon={sendLabel === 'Save' ? 'check' : 'send'}
				label={sendLabel}
				disabled={!canSend}
				onClick={send}
			/>
			{warning && (
				<p
					id={`${listId}-warning`}
					className={isTooLong ? 'length-warning rejection' : 'length-warning hint'}
					role="status"
				>
					{warning}
				</p>
			)}
		</div>
	);
}

/** Loads everybody when the user types the first @. */
function useCandidates(text: string, caret: number | null): readonly Candidate[] {
	const client = useClient();
	const users = useSelected((snapshot) => snapshot.users);
	const conversations = useSelected((snapshot) => snapshot.conversations);
	const features = useAppFeatures();
	const written = caret === null ? null : writtenName(text, caret);
	const isNaming = written?.sign === '@';
	useEffect(() => {
		if (isNaming) void loadEverybody(client);
	}, [client, isNaming]);
	return written === null
		? NO_CANDIDATES
		: candidatesFor(written, { users: users.values(), conversations: conversations.values(), features });
}

interface SuggestionsProps {
	readonly id: string;
	readonly candidates: readonly Candidate[];
	readonly chosen: number;
	readonly onTake: (candidate: Candidate) => void;
}

function Suggestions({ id, candidates, chosen, onTake }: SuggestionsProps) {
	return (
		<div className="completion" id={id} role="listbox" aria-label="Suggestions">
			{candidates.map((candidate, index) => (
				// biome-ignore lint/a11y/useKeyWithClickEvents: the keyboard chooses from the text box, where the focus stays
				<div
					key={candidate.handle}
					id={`${id}-${index}`}
					role="option"
					tabIndex={-1}
					aria-selected={index === chosen}
					onPointerDown={(event) => event.preventDefault()}
					onClick={() => onTake(candidate)}
				>
					{candidate.id ? (
						<PersonAvatar id={candidate.id} name={candidate.label} size="small" />
					) : (
						<span className="completion-sign">{candidate.sign}</span>
					)}
					<strong dir="auto">{candidate.label}</strong>
					<span className="hint">{candidate.shortcut?.app_name ?? candidate.handle}</span>
				</div>
			))}
		</div>
	);
}
