import type { Conversation } from '@tidemark/client';
import { plural } from '../ui/format.ts';

interface Props {
	readonly conversation: Conversation;
	/** The oldest new message is above the visible ones. */
	readonly isAbove: boolean;
	readonly onJump: () => void;
	readonly onMarkRead: () => void;
}

/** The number of new messages, a button that jumps to the oldest one, and a button that marks all of them read. */
export const NewBar = ({ conversation, isAbove, onJump, onMarkRead }: Props) => (
	<section className="new-bar" aria-label="New messages">
		<span>
			{plural(conversation.unreadCount, 'new message')}
			{conversation.isCapped && ' or more'}
		</span>
		{isAbove && (
			<button type="button" className="link" onClick={onJump}>
				Jump to the oldest ↑
			</button>
		)}
		<button type="button" className="link" onClick={onMarkRead}>
			Mark as read <kbd>Esc</kbd>
		</button>
	</section>
);
