import { Dialog } from '../ui/Dialog.tsx';

const KEYS: readonly (readonly [string, string])[] = [
	['Esc', 'Mark the conversation as read; in a thread, mark it as read and close it'],
	['Shift Esc', 'Mark everything as read'],
	['Alt ↑  Alt ↓', 'Previous or next unread conversation'],
	['Ctrl K', 'Go to a conversation or a person'],
	['↑', 'From an empty text box: to the messages; arrows walk them'],
	['U', 'On a message: unread from here'],
	['R', 'On a message: reply in its thread'],
	['Enter', 'Send; with Shift, a new line'],
	['@', 'Mention somebody'],
	['?', 'Outside a text box: this list'],
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
