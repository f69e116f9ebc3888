import { useBadge, useSelected } from '@tidemark/client/react';
import { formatRoute, type Place, toPlace } from '../session/route.ts';
import { Badge } from '../ui/Badge.tsx';
import { Icon, type IconName } from '../ui/icons.tsx';

interface PlaceLinkProps {
	readonly place: Place;
	readonly icon: IconName;
	readonly label: string;
	readonly current: Place;
	readonly isUnread?: boolean;
	readonly badge?: number;
}

const PlaceLink = ({ place, icon, label, current, isUnread = false, badge = 0 }: PlaceLinkProps) => (
	<li>
		<a
			className={`side-row ${current === place ? 'current' : ''} ${isUnread ? 'unread' : ''}`}
			href={formatRoute(toPlace(place))}
			aria-current={current === place ? 'page' : undefined}
		>
			<span className="row-icon">
				<Icon name={icon} />
			</span>
			<span className="side-name">{label}</span>
			{isUnread && badge === 0 && <span className="only-read-aloud">unread</span>}
			<Badge count={badge} />
		</a>
	</li>
);

/** What is not a conversation: everything at once, threads, and what asks for the user. */
export function Places({ current }: { readonly current: Place }) {
	const threads = useSelected((snapshot) => snapshot.threads);
	const badge = useBadge();
	return (
		<ul className="side-places">
			<PlaceLink place="search" icon="search" label="Search" current={current} />
			<PlaceLink place="inbox" icon="inbox" label="Inbox" current={current} />
			<PlaceLink
				place="threads"
				icon="thread"
				label="Threads"
				current={current}
				isUnread={threads.hasUnreads}
				badge={threads.badgeCount}
			/>
			<PlaceLink
				place="mentions"
				icon="at"
				label="Mentions"
				current={current}
				isUnread={badge > 0}
				badge={badge}
			/>
		</ul>
	);
}
