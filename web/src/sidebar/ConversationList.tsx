import type { Conversation } from '@tidemark/client';
import { useClient, useSelected } from '@tidemark/client/react';
import { useEffect, useMemo, useRef } from 'react';
import { Virtualizer, type VirtualizerHandle } from 'virtua';
import { useSelf } from '../session/names.ts';
import { isFolded, setFolded, useFavourites, useFolded } from '../session/sidebar-preferences.ts';
import { SidebarItem } from './SidebarItem.tsx';
import { type SidebarRow, sidebarRows } from './sections.ts';

const ROW_HEIGHT = 34;
/** The sidebar shows the presence of at most this many people: those of the topmost direct messages. */
const MAX_WATCHED = 100;

/** The list of all conversations; only visible rows are in the page. */
export function ConversationList({ opened }: { readonly opened: Conversation | null }) {
	const client = useClient();
	const current = opened?.id ?? null;
	const conversations = useSelected((snapshot) => snapshot.conversations);
	const self = useSelf();
	const favourites = useFavourites(self);
	const folded = useFolded(self);
	const rows = useMemo(
		() => sidebarRows(conversations, opened, favourites, (heading) => isFolded(folded, heading)),
		[conversations, opened, favourites, folded],
	);
	useDirectPresence(rows);
	const handle = useRef<VirtualizerHandle>(null);
	const scroller = useRef<HTMLDivElement>(null);
	const currentIndex = rows.findIndex(({ key }) => key === current);

	// Scrolls to a conversation that the user opened by keyboard or from another view.
	// biome-ignore lint/correctness/useExhaustiveDependencies: runs only when another conversation is opened, not when rows move
	useEffect(() => {
		if (currentIndex >= 0) handle.current?.scrollToIndex(currentIndex, { align: 'nearest' });
	}, [current]);

	return (
		<div className="side-list" ref={scroller}>
			<Virtualizer ref={handle} scrollRef={scroller} data={rows} itemSize={ROW_HEIGHT}>
				{(row) =>
					row.conversation ? (
						<SidebarItem key={row.key} conversation={row.conversation} isCurrent={row.key === current} />
					) : (
						<h2 key={row.key} className="side-heading">
							<button
								type="button"
								aria-expanded={!row.isFolded}
								onClick={() => setFolded(client, self, row.heading ?? '', !row.isFolded)}
							>
								{row.heading}
							</button>
						</h2>
					)
				}
			</Virtualizer>
			{conversations.size === 0 && (
				<p className="side-hint">You have no conversations yet. Use + to find people and channels.</p>
			)}
		</div>
	);
}

function useDirectPresence(rows: readonly SidebarRow[]): void {
	const client = useClient();
	const people = rows
		.map(({ conversation }): string | null => (conversation as Conversation | null)?.user ?? null)
		.filter((user) => user !== null)
		.slice(0, MAX_WATCHED)
		.sort()
		.join();
	useEffect(() => (people ? client.watchPresence(people.split(',')) : undefined), [client, people]);
}
