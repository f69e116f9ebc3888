import type { Driver } from './oracle/driver.ts';
import type { Row } from './oracle/types.ts';
import type { Call } from './api.ts';
import { micros, type Person, type Workspace, wireTs } from './people.ts';

/** Performs a history over the public HTTP interface, and reads back what it shows. */

interface WireRow {
	id: string;
	last_read: string;
	latest: string;
	revision: number;
	unread_count: number;
	unread_count_display: number;
	mention_count: number;
	has_unreads: boolean;
	is_muted: boolean;
	unread_count_is_capped?: boolean;
}

const rowOf = (row: WireRow): Row => ({
	last_read: micros(row.last_read),
	revision: row.revision,
	latest: micros(row.latest),
	unread_count: row.unread_count,
	unread_count_display: row.unread_count_display,
	mention_count: row.mention_count,
	has_unreads: row.has_unreads,
	is_muted: row.is_muted,
	unread_count_is_capped: row.unread_count_is_capped ?? false,
});

export function httpDriver({ people }: Workspace): Driver {
	const byId = new Map<string, Person>(people.map((person) => [person.id, person]));
	const as = (user: string): Call => {
		const person = byId.get(user);
		if (!person) throw new Error(`${user} is not in this workspace`);
		return person.call;
	};
	let names = 0;

	/** All pages of a list. */
	async function all<T>(call: Call, method: string, args: object, field: string): Promise<T[]> {
		const items: T[] = [];
		let cursor = '';
		do {
			const page = await call(method, { ...args, limit: 200, ...(cursor ? { cursor } : {}) });
			items.push(...page[field]);
			cursor = page['response_metadata']?.next_cursor ?? '';
		} while (cursor !== '');
		return items;
	}

	return {
		createConversation: async (kind, members, name) => {
			const [creator, ...others] = members as [string, ...string[]];
			if (kind === 'im' || kind === 'mpim') {
				const { channel } = await as(creator)('conversations.open', { users: others, return_im: true });
				return { id: channel.id, at: channel.created * 1e6 };
			}
			names += 1;
			const { channel } = await as(creator)('conversations.create', {
				name: `${name.toLowerCase()}-${names}`,
				is_private: kind === 'private',
			});
			if (others.length > 0)
				await as(creator)('conversations.invite', { channel: channel.id, users: others });
			return { id: channel.id, at: channel.created * 1e6 };
		},
		join: async (channel, user, by) => {
			if (by === undefined) await as(user)('conversations.join', { channel });
			else await as(by)('conversations.invite', { channel, users: user });
		},
		leave: async (channel, user) => void (await as(user)('conversations.leave', { channel })),
		kick: async (channel, user, by) => void (await as(by)('conversations.kick', { channel, user })),
		archive: async (channel, by) => void (await as(by)('conversations.archive', { channel })),
		unarchive: async (channel, by) => void (await as(by)('conversations.unarchive', { channel })),
		post: async (channel, user, text, { threadTs, broadcast }) => {
			const thread =
				threadTs === undefined
					? {}
					: { thread_ts: wireTs(threadTs), reply_broadcast: broadcast ?? false };
			const { ts } = await as(user)('chat.postMessage', { channel, text, ...thread });
			return micros(ts);
		},
		edit: async (channel, user, ts, text) =>
			void (await as(user)('chat.update', { channel, ts: wireTs(ts), text })),
		remove: async (channel, user, ts) => void (await as(user)('chat.delete', { channel, ts: wireTs(ts) })),
		mark: async (channel, user, ts, revision) => {
			const args = { channel, ts: wireTs(ts), ...(revision === undefined ? {} : { revision }) };
			const answer = await as(user)('conversations.mark', args);
			return { ignored: answer['ignored'] ?? false };
		},
		markUnread: async (channel, user, ts) =>
			void (await as(user)('conversations.markUnread', { channel, ts: wireTs(ts) })),
		markMessage: async (channel, user, ts) =>
			void (await as(user)('conversations.markMessage', { channel, ts: wireTs(ts) })),
		markAllRead: async (user) => void (await as(user)('client.markAllRead')),
		mute: async (channel, user, muted) =>
			void (await as(user)(muted ? 'conversations.mute' : 'conversations.unmute', { channel })),

		rows: async (user) => {
			const counts = await as(user)('client.counts');
			const rows: WireRow[] = [...counts['channels'], ...counts['mpims'], ...counts['ims']];
			return Object.fromEntries(rows.map((row) => [row.id, rowOf(row)]));
		},
		badge: async (user) => (await as(user)('client.counts'))['badge'],
		unreads: async (user, channel) => {
			const messages = await all<{ ts: string }>(as(user), 'conversations.unreads', { channel }, 'messages');
			return messages.map(({ ts }) => micros(ts));
		},
		members: (channel, viewer) => all<string>(as(viewer), 'conversations.members', { channel }, 'members'),
		timeline: async (channel, viewer) => {
			const messages = await all<{ ts: string; subtype?: string }>(
				as(viewer),
				'conversations.history',
				{ channel },
				'messages',
			);
			return messages
				.filter(({ subtype }) => subtype !== 'tombstone')
				.map(({ ts }) => micros(ts))
				.reverse();
		},
	};
}
