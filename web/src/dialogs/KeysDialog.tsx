import { Dialog } from '../ui/Dialog.tsx';

const KEYS: readonly (readonly [string, string])[] = [
	['Esc', 'Mark the conversation as read; in a thread, mark it as read and close it'],
	['Shift Esc', 'Mark everything as read'],
	['Alt ↑  Alt ↓', 'Previous or next unread conversation'],
	['Ctrl K', 'Go to a conversation or a person'],
	['↑', 'From an empty text box: edit your last message'],
	['Shift Tab', 'From the text box: go to the messages; arrows move between them'],
	['U', 'On a message: mark unread from here'],
	['R', 'On a message: reply in its thread'],
	['Enter', 'Send; with Shift, a new line'],
	['@  #  :', 'Complete the name of a person, a channel, an emoji'],
	['Any letter', 'Outside a text box: begin a message'],
	['?', 'Outside a text box: show this list'],
];

export const KeysDialog = ({ onClose }: { readonly onClose: () => void }) => (
	<Dialog title="Keyboard shortcuts" onClose={onClose}>
		<dl className="keys">
			{KEYS.map(([key, does]) => (
				<div key={key}>
					<dt>
						<kbd>{key}</kbd>
					</dt>
					<dd>{does}</dd>
				</div>
			))}
		</dl>
	</Dialog>
);
