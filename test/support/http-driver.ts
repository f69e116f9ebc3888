import type { Answer, Call } from './api.ts';
import type { Driver } from './oracle/driver.ts';
import type { Reason, Row, ThreadCounts } from './oracle/types.ts';
import { micros, type Person, type Workspace, wireTs } from './people.ts';
import { comeOnline, timestampNow, untilInactive } from './presence.ts';

/** Performs a history over the public HTTP API, and reads the results. */

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
	const sockets = new Map<string, WebSocket>();
	let names = 0;

	/** All pages of a list. */
	async function all<T>(call: Call, method: string, args: object, field: string): Promise<T[]> {
		const items: T[] = [];
		let cursor = '';
		do {
			const page = await call(method, { ...args, limit: 200, ...(cursor ? { cursor } : {}) });
			items.push(...page[field]);
			cursor = page.response_metadata?.next_cursor ?? '';
		} while (cursor !== '');
		return items;
	}

	const markThreadAs =
		(read: 0 | 1) =>
		async (channel: string, threadTs: number, user: string, ts: number): Promise<void> =>
			void (await as(user)('subscriptions.thread.mark', {
				channel,
				thread_ts: wireTs(threadTs),
				ts: wireTs(ts),
				read,
			}));

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
				threadTs === undefined ? {} : { thread_ts: wireTs(threadTs), reply_broadcast: broadcast ?? false };
			const { ts } = await as(user)('chat.postMessage', { channel, text, ...thread });
			return micros(ts);
		},
		edit: async (channel, user, ts, text) =>
			void (await as(user)('chat.update', { channel, ts: wireTs(ts), text })),
		remove: async (channel, user, ts) => void (await as(user)('chat.delete', { channel, ts: wireTs(ts) })),
		mark: async (channel, user, ts, revision) => {
			const args = { channel, ts: wireTs(ts), ...(revision === undefined ? {} : { revision }) };
			const answer = await as(user)('conversations.mark', args);
			return { ignored: answer.ignored ?? false };
		},
		markUnread: async (channel, user, ts) =>
			void (await as(user)('conversations.markUnread', { channel, ts: wireTs(ts) })),
		markMessage: async (channel, user, ts) =>
			void (await as(user)('conversations.markMessage', { channel, ts: wireTs(ts) })),
		markAllRead: async (user) => void (await as(user)('client.markAllRead')),
		mute: async (channel, user, muted) =>
			void (await as(user)(muted ? 'conversations.mute' : 'conversations.unmute', { channel })),

		markThread: markThreadAs(1),
		markThreadUnread: markThreadAs(0),
		follow: async (channel, threadTs, user, lastRead) =>
			void (await as(user)('subscriptions.thread.add', {
				channel,
				thread_ts: wireTs(threadTs),
				...(lastRead === undefined ? {} : { last_read: wireTs(lastRead) }),
			})),
		unfollow: async (channel, threadTs, user) =>
			void (await as(user)('subscriptions.thread.remove', { channel, thread_ts: wireTs(threadTs) })),

		setActive: async (user, active) => {
			const person = byId.get(user) as Person;
			const socket = sockets.get(user);
			if (active && socket) return timestampNow();
			if (active) {
				const online = await comeOnline(person);
				sockets.set(user, online.socket);
				return online.at;
			}
			socket?.close();
			sockets.delete(user);
			return untilInactive(person);
		},

		rows: async (user) => {
			const counts = await as(user)('client.counts');
			const rows: WireRow[] = [...counts.channels, ...counts.mpims, ...counts.ims];
			return Object.fromEntries(rows.map((row) => [row.id, rowOf(row)]));
		},
		badge: async (user) => (await as(user)('client.counts')).badge,
		unreads: async (user, channel) => {
			const messages = await all<{ ts: string }>(as(user), 'conversations.unreads', { channel }, 'messages');
			return messages.map(({ ts }) => micros(ts));
		},
		threads: async (user) => {
			const counts = await as(user)('client.counts');
			const threads: ThreadCounts[] = [];
			let before = '';
			let page: Answer;
			do {
				page = await as(user)('subscriptions.thread.getView', before ? { current_ts: before } : {});
				for (const view of page.threads) {
					threads.push({
						channel: view.root_msg.channel,
						thread_ts: micros(view.root_msg.ts),
						last_read: micros(view.root_msg.last_read),
						unread: view.unread_count,
						mentions: view.mention_count,
					});
				}
				before = page.max_ts;
			} while (page.has_more);
			const { has_unreads, unread_count, mention_count } = counts.threads;
			return { threads, totals: { has_unreads, unread_count, mention_count } };
		},
		explain: async (user) => {
			const { items } = await as(user)('client.explain');
			return items.map((item: { channel: string; ts: string; thread_ts?: string; reasons: Reason[] }) => ({
				channel: item.channel,
				ts: micros(item.ts),
				...(item.thread_ts === undefined ? {} : { thread_ts: micros(item.thread_ts) }),
				reasons: item.reasons,
			}));
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
