import { useBadge, useClient } from '@tidemark/client/react';
import { Matches } from '../search/Matches.tsx';
import { useSelf } from '../session/names.ts';
import { PaneHead } from '../ui/PaneHead.tsx';
import { ExplainedList } from './ExplainedList.tsx';

/** Everything that asks for the user: why the badge is what it is. */
export function MentionsView() {
	const client = useClient();
	const badge = useBadge();
	const self = useSelf();
	return (
		<main className="pane" aria-label="Mentions">
			<PaneHead
				title="Mentions"
				about={badge > 0 ? 'Unread messages that make up your badge' : 'No unread mentions'}
			/>
			<div className="scroller padded">
				<ExplainedList ask={client.explain} badge={badge} />
				{self && (
					<section aria-label="Messages that mention you">
						<h2 className="list-heading">Messages that mention you</h2>
						<Matches
							key={badge}
							query={`"${self}"`}
							nothing="Nobody has mentioned you yet."
							isCounted={false}
						/>
					</section>
				)}
			</div>
		</main>
	);
}
