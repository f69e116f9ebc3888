import { memo } from 'react';
import { CardView } from './CardView.tsx';
import { MessageText } from './MessageText.tsx';
import { Parts } from './Parts.tsx';
import { partsOf } from './rich/blocks.ts';
import { cardsOf } from './rich/cards.ts';
import type { Said } from './said.ts';

/** What a message shows, as at Slack: its blocks, or its text where there are none; its attachments below. */
export const MessageBody = memo(function MessageBody({ said }: { readonly said: Said }) {
	const { text, blocks, attachments } = said;
	return (
		<>
			{blocks?.length ? <Parts parts={partsOf(blocks)} /> : <MessageText text={text} />}
			{cardsOf(attachments ?? []).map((card, index) => (
				// biome-ignore lint/suspicious/noArrayIndexKey: attachments of one message have no other identity
				<CardView key={index} card={card} />
			))}
		</>
	);
});
