import type { Conversation, Message, TidemarkClient } from '../../../client/src/index.ts';
import type { Person } from '../people.ts';

/** The state of an SDK client and the server's answers, in the same format. */

/** A row of client.counts, built from the client's state. */
const rowOf = (conversation: Conversation) => ({
	id: conversation.id,
	last_read: conversation.lastRead,
	latest: conversation.latest,
	has_unreads: conversation.hasUnreads,
	unread_count: conversation.unreadCount,
	unread_count_display: conversation.unreadCountDisplay,
	mention_count: conversation.mentionCount,
	badge_count: conversation.badgeCount,
	is_muted: conversation.isMuted,
	notification_level: conversation.notificationLevel,
	revision: conversation.revision,
	...(conversation.isCapped ? { unread_count_is_capped: true } : {}),
});

const byId = (a: { id: string }, b: { id: string }): number => (a.id < b.id ? -1 : 1);

/** Everything that client.counts returns, except positions and versions. */
export function shownCounts(client: TidemarkClient) {
	const { conversations, threads, badge } = client.getSnapshot();
	return {
		rows: [...conversations.values()].map(rowOf).sort(byId),
		threads: {
			has_unreads: threads.hasUnreads,
			unread_count: threads.unreadCount,
			mention_count: threads.mentionCount,
			badge_count: threads.badgeCount,
		},
		badge,
	};
}

export async function freshCounts(person: Person): Promise<ReturnType<typeof shownCounts>> {
	const { channels, mpims, ims, threads, badge } = await person.call('client.counts');
	const rows = [...channels, ...mpims, ...ims].map(({ position: _, ...row }) => row);
	const { version: _, ...totals } = threads;
	return { rows: rows.sort(byId), threads: totals, badge };
}

const ignore = (): void => undefined;

/** Watches the list of threads and every conversation, including new ones. Returns a function that stops watching. */
export function watchEverything(client: TidemarkClient): () => void {
	const watched = new Map<string, () => void>();
	const look = () => {
		for (const id of client.getSnapshot().conversations.keys())
			if (!watched.has(id)) watched.set(id, client.conversation(id).subscribe(ignore));
	};
	const stops = [client.subscribe(look), client.threads.subscribe(ignore)];
	look();
	return () => {
		for (const stop of [...stops, ...watched.values()]) stop();
	};
}

export const seen = ({ ts, user, text, replyCount, edited, isTombstone, reactions, isPinned }: Message) => ({
	ts,
	user,
	text,
	replyCount,
	isEdited: edited !== null,
	isTombstone,
	isPinned,
	reactions: reactions.map(({ name, count, users, since }) => ({ name, users, count, first_ts: since })),
});

// biome-ignore lint/suspicious/noExplicitAny: as it is on the wire
export const served = (message: any) => ({
	ts: message.ts,
	user: message.user,
	// The SDK has no text for a deleted message.
	text: message.subtype === 'tombstone' ? '' : message.text,
	replyCount: message.reply_count ?? 0,
	isEdited: message.edited !== undefined,
	isTombstone: message.subtype === 'tombstone',
	isPinned: message.pinned_to !== undefined,
	reactions: message.reactions ?? [],
});
