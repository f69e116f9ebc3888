import { useBadge, useSelected } from '@tidemark/client/react';
import { formatRoute, type Screen, toScreen } from '../session/route.ts';
import { Badge } from '../ui/Badge.tsx';
import { Icon, type IconName } from '../ui/icons.tsx';

interface ScreenLinkProps {
	readonly screen: Screen;
	readonly icon: IconName;
	readonly label: string;
	readonly current: Screen;
	readonly isUnread?: boolean;
	readonly badge?: number;
	/** What the badge counts, for screen readers. */
	readonly badgeOf?: string;
}

const ScreenLink = ({
	screen,
	icon,
	label,
	current,
	isUnread = false,
	badge = 0,
	badgeOf = 'mention',
}: ScreenLinkProps) => (
	<li>
		<a
			className={`side-row ${current === screen ? 'current' : ''} ${isUnread ? 'unread' : ''}`}
			href={formatRoute(toScreen(screen))}
			aria-current={current === screen ? 'page' : undefined}
		>
			<span className="row-icon">
				<Icon name={icon} />
			</span>
			<span className="side-name">{label}</span>
			{isUnread && badge === 0 && <span className="only-read-aloud">unread</span>}
			<Badge count={badge} of={badgeOf} />
		</a>
	</li>
);

/** Links to the views that are not conversations: search, inbox, threads and mentions. */
export function ScreenLinks({ current }: { readonly current: Screen }) {
	const threads = useSelected((snapshot) => snapshot.threads);
	const badge = useBadge();
	return (
		<ul className="side-places">
			<ScreenLink screen="search" icon="search" label="Search" current={current} />
			<ScreenLink screen="inbox" icon="inbox" label="Inbox" current={current} />
			<ScreenLink
				screen="threads"
				icon="thread"
				label="Threads"
				current={current}
				isUnread={threads.hasUnreads}
				badge={threads.badgeCount}
			/>
			<ScreenLink
				screen="mentions"
				icon="at"
				label="Mentions"
				current={current}
				isUnread={badge > 0}
				badge={badge}
				badgeOf="unread message"
			/>
		</ul>
	);
}
