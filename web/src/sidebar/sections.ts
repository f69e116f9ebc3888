import type { Conversation } from '@tidemark/client';

/** The order of the sidebar: unread conversations first, then favourites, channels by name and direct messages by activity. */

export interface SidebarRow {
	readonly key: string;
	readonly heading: 'Unread' | 'Favourites' | 'Channels' | 'Direct messages' | null;
	/** Whether the conversations below this heading are hidden. */
	readonly isFolded?: boolean;
	readonly conversation: Conversation | null;
}

const isDirect = ({ kind }: Conversation): boolean => kind === 'im' || kind === 'mpim';

/** A muted conversation is listed as unread only if it has a badge, that is, if a message names the user. */
export const isUnread = ({ hasUnreads, isMuted, badgeCount }: Conversation): boolean =>
	(hasUnreads && !isMuted) || badgeCount > 0;

const byName = (a: Conversation, b: Conversation): number => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
const byActivity = (a: Conversation, b: Conversation): number =>
	a.latest === b.latest ? (a.id < b.id ? -1 : 1) : a.latest < b.latest ? 1 : -1;
/** Conversations with a badge come first. */
const byUrgency = (a: Conversation, b: Conversation): number =>
	Number(b.badgeCount > 0) - Number(a.badgeCount > 0) || byActivity(a, b);

/**
 * Sorts the open conversation by its state when the user opened it (`opened`), so that it does not move under the pointer when its
 * messages are read or new ones arrive.
 */
const placedBy = (opened: Conversation | null) => {
	const asPlaced = (one: Conversation): Conversation =>
		opened !== null && one.id === opened.id ? opened : one;
	return {
		isUnread: (one: Conversation): boolean => isUnread(asPlaced(one)),
		sort: (all: readonly Conversation[], order: (a: Conversation, b: Conversation) => number) =>
			all.toSorted((a, b) => order(asPlaced(a), asPlaced(b))),
	};
};

export function unreadSorted(
	conversations: Iterable<Conversation>,
	opened: Conversation | null,
): readonly Conversation[] {
	const placed = placedBy(opened);
	return placed.sort([...conversations].filter(placed.isUnread), byUrgency);
}

export function sidebarRows(
	conversations: ReadonlyMap<string, Conversation>,
	opened: Conversation | null,
	favourites: ReadonlySet<string> = new Set(),
	folded: (heading: string) => boolean = () => false,
): readonly SidebarRow[] {
	const { sort } = placedBy(opened);
	const unread = unreadSorted(conversations.values(), opened);
	const onTop = new Set(unread);
	const isFavourite = ({ id }: Conversation): boolean => favourites.has(id);
	const others = [...conversations.values()].filter((conversation) => !onTop.has(conversation));
	const rest = others.filter((conversation) => !isFavourite(conversation));
	const section = (
		heading: NonNullable<SidebarRow['heading']>,
		members: readonly Conversation[],
	): SidebarRow[] =>
		members.length === 0
			? []
			: [
					{ key: heading, heading, conversation: null, isFolded: folded(heading) },
					// The open conversation stays visible.
					...members
						.filter(({ id }) => !folded(heading) || id === opened?.id)
						.map((conversation) => ({ key: conversation.id, heading: null, conversation })),
				];
	return [
		...section('Unread', unread),
		...section('Favourites', sort(others.filter(isFavourite), byName)),
		...section(
			'Channels',
			sort(
				rest.filter((one) => !isDirect(one)),
				byName,
			),
		),
		...section('Direct messages', sort(rest.filter(isDirect), byActivity)),
	];
}

/** The unread conversation after or before the open one, wrapping around; null if no other conversation is unread. */
export function nextUnread(
	conversations: Iterable<Conversation>,
	opened: Conversation | null,
	step: 1 | -1,
): string | null {
	const ids = unreadSorted(conversations, opened).map(({ id }) => id);
	const at = ids.indexOf(opened?.id ?? '');
	const others = ids.length - (at < 0 ? 0 : 1);
	if (others === 0) return null;
	if (at < 0) return ids.at(step === 1 ? 0 : -1) ?? null;
	return ids[(at + step + ids.length) % ids.length] ?? null;
}
