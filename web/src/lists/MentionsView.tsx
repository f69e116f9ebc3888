import { useBadge, useClient } from '@tidemark/client/react';
import { Matches } from '../search/Matches.tsx';
import { useSelf } from '../session/names.ts';
import { PaneHead } from '../ui/PaneHead.tsx';
import { ExplainedList } from './ExplainedList.tsx';

/** The messages that make up the badge, and all messages that mention the user. */
export function MentionsView() {
	const client = useClient();
	const badge = useBadge();
	const self = useSelf();
	return (
		<main className="pane" aria-label="Mentions">
			<PaneHead
				title="Mentions"
				about={badge > 0 ? 'Unread messages that make up your badge' : 'You’re all caught up'}
			/>
			<div className="scroller padded">
				{badge > 0 && <ExplainedList ask={client.explain} badge={badge} />}
				{self && (
					<section aria-label="Messages that mention you">
						<h2 className="list-heading">Messages that mention you</h2>
						<Matches
							key={badge}
							query={`"${self}"`}
							nothing={{ title: 'No mentions yet', text: 'Messages that mention you appear here.' }}
							isCounted={false}
						/>
					</section>
				)}
			</div>
		</main>
	);
}
