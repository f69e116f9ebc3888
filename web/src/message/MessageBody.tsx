import { memo } from 'react';
import { withoutUsable } from '../apps/elements.ts';
import { CardView } from './CardView.tsx';
import { MessageText } from './MessageText.tsx';
import { Parts } from './Parts.tsx';
import { partsOf } from './rich/blocks.ts';
import { cardsOf } from './rich/cards.ts';
import type { Said } from './said.ts';

interface Props {
	readonly said: Said;
	/** Buttons and selects are rendered separately. */
	readonly hasControls?: boolean;
}

/** The content of a message, as at Slack: its blocks, or its text if it has none, then its attachments. */
export const MessageBody = memo(function MessageBody({ said, hasControls = false }: Props) {
	const { text, attachments } = said;
	const blocks = hasControls && said.blocks ? withoutUsable(said.blocks) : said.blocks;
	return (
		<>
			{said.blocks?.length && blocks ? <Parts parts={partsOf(blocks)} /> : <MessageText text={text} />}
			{cardsOf(attachments ?? []).map((card, index) => (
				// biome-ignore lint/suspicious/noArrayIndexKey: attachments of one message have no other identity
				<CardView key={index} card={card} />
			))}
		</>
	);
});
