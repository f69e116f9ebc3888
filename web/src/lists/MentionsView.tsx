import { useBadge, useClient } from '@tidemark/client/react';
import { PaneHead } from '../ui/PaneHead.tsx';
import { ExplainedList } from './ExplainedList.tsx';

/** Everything that asks for the user: why the badge is what it is. */
export function MentionsView() {
	const client = useClient();
	const badge = useBadge();
	return (
		<main className="pane" aria-label="Mentions">
			<PaneHead
				title="Mentions"
				about={badge > 0 ? 'Why the badge is on: these messages wait for you' : 'Nothing waits for you'}
			/>
			<div className="scroller padded">
				<ExplainedList ask={client.explain} badge={badge} />
			</div>
		</main>
	);
}
