import { expect } from 'bun:test';
import type { ClientOptions, Conversation, TidemarkClient } from '../../../client/src/index.ts';
import { createClient } from '../../../client/src/index.ts';
import type { Person } from '../people.ts';

/** Clients of the SDK against a test server, and what they have to agree with. */

export const sdk = (url: string, person: Person, options: Partial<ClientOptions> = {}): TidemarkClient =>
	createClient({ url, token: person.token, ...options });

/** A row of client.counts, made from what the client shows. */
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

/** Everything that client.counts answers, but for positions. */
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
	return { rows: rows.sort(byId), threads, badge };
}

/** The law: what the client shows is what the server answers to whoever asks anew. */
export async function expectExact(client: TidemarkClient, person: Person): Promise<void> {
	await client.settled();
	expect(shownCounts(client)).toEqual(await freshCounts(person));
	expect(client.badge.getSnapshot()).toBe(client.getSnapshot().badge);
}
