import type { ExplainedItem } from '@tidemark/client';
import { useBadge, useClient } from '@tidemark/client/react';
import { useMemo, useState } from 'react';
import { Matches, matchKey } from '../search/Matches.tsx';
import { useSelf } from '../session/names.ts';
import { PaneHead } from '../ui/PaneHead.tsx';
import { ExplainedList } from './ExplainedList.tsx';

/** The unread messages that the badge counts, and below them the other messages that mention the user. */
export function MentionsView() {
	const client = useClient();
	const badge = useBadge();
	const self = useSelf();
	const [unread, setUnread] = useState<readonly ExplainedItem[]>([]);
	// Unread mentions are in the upper list.
	const listedAbove = useMemo(
		() => new Set(badge > 0 ? unread.map(({ channel, ts }) => matchKey(channel, ts)) : []),
		[badge, unread],
	);
	const heading = badge > 0 ? 'Other messages that mention you' : 'Messages that mention you';
	return (
		<main className="pane" aria-label="Mentions">
			<PaneHead
				title="Mentions"
				about={badge > 0 ? 'Unread messages that your badge counts' : 'You’re all caught up'}
			/>
			<div className="scroller padded">
				{badge > 0 && <ExplainedList ask={client.explain} badge={badge} onLoaded={setUnread} />}
				{self && (
					<section aria-label={heading}>
						<h2 className="list-heading">{heading}</h2>
						<Matches
							key={badge}
							query={`"${self}"`}
							without={listedAbove}
							nothing={
								badge > 0
									? { title: 'No other mentions', text: 'Mentions that you have read appear here.' }
									: { title: 'No mentions yet', text: 'Messages that mention you appear here.' }
							}
							isCounted={false}
						/>
					</section>
				)}
			</div>
		</main>
	);
}
