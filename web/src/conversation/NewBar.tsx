import type { Conversation } from '@tidemark/client';
import { plural } from '../ui/format.ts';

interface Props {
	readonly conversation: Conversation;
	/** The oldest of them is above what is in sight. */
	readonly isAbove: boolean;
	readonly onJump: () => void;
	readonly onMarkRead: () => void;
}

/** How much is new here, the way to its beginning, and the way to be done with it. */
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
