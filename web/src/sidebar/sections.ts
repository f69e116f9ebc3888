import type { Conversation } from '@tidemark/client';

/** The order of the sidebar: unread conversations on top, then channels by name and direct messages by activity. */

export interface SidebarRow {
	readonly key: string;
	readonly heading: 'Unread' | 'Favourites' | 'Channels' | 'Direct messages' | null;
	/** The conversations of this heading are hidden. */
	readonly isFolded?: boolean;
	readonly conversation: Conversation | null;
}

const isDirect = ({ kind }: Conversation): boolean => kind === 'im' || kind === 'mpim';

/** Muted conversations stay in their section, unless a message names the user. */
export const isUnread = ({ hasUnreads, isMuted, badgeCount }: Conversation): boolean =>
	(hasUnreads && !isMuted) || badgeCount > 0;

const byName = (a: Conversation, b: Conversation): number => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
const byActivity = (a: Conversation, b: Conversation): number =>
	a.latest === b.latest ? (a.id < b.id ? -1 : 1) : a.latest < b.latest ? 1 : -1;
/** Conversations with a badge come first. */
const byUrgency = (a: Conversation, b: Conversation): number =>
	Number(b.badgeCount > 0) - Number(a.badgeCount > 0) || byActivity(a, b);

/**
 * The open conversation is placed as it was when it was opened (`held`), so that it does not move under the pointer when it is
 * read or receives a message.
 */
const placedBy = (held: Conversation | null) => {
	const asPlaced = (one: Conversation): Conversation => (held !== null && one.id === held.id ? held : one);
	return {
		isUnread: (one: Conversation): boolean => isUnread(asPlaced(one)),
		sort: (all: readonly Conversation[], order: (a: Conversation, b: Conversation) => number) =>
			all.toSorted((a, b) => order(asPlaced(a), asPlaced(b))),
	};
};

export function unreadFirst(
	conversations: Iterable<Conversation>,
	held: Conversation | null,
): readonly Conversation[] {
	const placed = placedBy(held);
	return placed.sort([...conversations].filter(placed.isUnread), byUrgency);
}

export function sidebarRows(
	conversations: ReadonlyMap<string, Conversation>,
	held: Conversation | null,
	favourites: ReadonlySet<string> = new Set(),
	folded: (heading: string) => boolean = () => false,
): readonly SidebarRow[] {
	const { sort } = placedBy(held);
	const unread = unreadFirst(conversations.values(), held);
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
						.filter(({ id }) => !folded(heading) || id === held?.id)
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

/** The next or previous unread conversation from the open one, wrapping around; null: there is none. */
export function nextUnread(
	conversations: Iterable<Conversation>,
	held: Conversation | null,
	step: 1 | -1,
): string | null {
	const ids = unreadFirst(conversations, held).map(({ id }) => id);
	const at = ids.indexOf(held?.id ?? '');
	const others = ids.length - (at < 0 ? 0 : 1);
	if (others === 0) return null;
	if (at < 0) return ids.at(step === 1 ? 0 : -1) ?? null;
	return ids[(at + step + ids.length) % ids.length] ?? null;
}
