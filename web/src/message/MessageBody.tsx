import { memo } from 'react';
import { withoutUsable } from '../apps/elements.ts';
import { CardView } from './CardView.tsx';
import type { MessageContent } from './content.ts';
import { MessageText } from './MessageText.tsx';
import { Parts } from './Parts.tsx';
import { partsOf } from './rich/blocks.ts';
import { cardsOf } from './rich/cards.ts';

interface Props {
	readonly content: MessageContent;
	/** The caller renders buttons and selects, so the body leaves them out. */
	readonly hasControls?: boolean;
}

/** The content of a message, in Slack's order: its blocks, or its text if it has no blocks; then its attachments. */
export const MessageBody = memo(function MessageBody({ content, hasControls = false }: Props) {
	const { text, attachments } = content;
	const blocks = hasControls && content.blocks ? withoutUsable(content.blocks) : content.blocks;
	return (
		<>
			{content.blocks?.length && blocks ? <Parts parts={partsOf(blocks)} /> : <MessageText text={text} />}
			{cardsOf(attachments ?? []).map((card, index) => (
				// biome-ignore lint/suspicious/noArrayIndexKey: attachments of one message have no other identity
				<CardView key={index} card={card} />
			))}
		</>
	);
});
