import type { Engine, GatewayEngine } from '../../src/app/engine.ts';
import { startSolePartition } from '../../src/app/sole-partition.ts';
import type { CountRow } from '../../src/engine/ports/read-state.ts';
import { Requests } from '../../src/gateway/requests.ts';
import { NO_CHANNEL_TEXT } from '../../src/model/conversation.ts';
import { newId, PREFIX_OF_KIND } from '../../src/model/ids.ts';
import type { Action, Result } from '../../src/sequencer/commands.ts';
import { Marking } from '../../src/unread/marking.ts';
import type { Driver } from './oracle/driver.ts';
import type { Row } from './oracle/types.ts';

/** Performs a history on an engine's ports: through the whole pipeline, but without HTTP and the gateway's API. */

const TEAM = 'T000TEST00';

const rowOf = (row: CountRow): Row => ({
	last_read: row.lastRead,
	revision: row.revision,
	latest: row.latest,
	unread_count: row.unread,
	unread_count_display: row.unreadDisplay,
	mention_count: row.mentions,
	has_unreads: row.unread > 0,
	is_muted: row.muted,
	unread_count_is_capped: row.capped,
});

export interface PortsDriver extends Driver {
	submit(user: string, conversation: string, action: Action): Promise<Result>;
	close(): Promise<void>;
}

/** For an engine of one process; starts its worker. */
export function portsDriver(engine: Engine): PortsDriver {
	startSolePartition(engine, { report: (error) => console.error(error), sendLookups: 2 });
	return gatewayDriver(engine);
}

/** For an engine whose worker is already running. */
export function gatewayDriver(engine: GatewayEngine): PortsDriver {
	const { store, views, readState, bus, clock } = engine;
	const requests = new Requests(engine.log, bus, 'test', clock);
	const marking = new Marking(views, readState, bus);
	const submit = async (user: string, conversation: string, action: Action) => {
		// As a gateway does before it accepts requests.
		await bus.ready();
		return requests.submit({ user, team: TEAM }, conversation, action);
	};
	const random = (count: number) => crypto.getRandomValues(new Uint8Array(count));
	const all = { after: 0, before: Number.MAX_SAFE_INTEGER, limit: 1_000_000, nearest: 'oldest' } as const;

	return {
		submit,
		createConversation: async (kind, members, name) => {
			const [creator = ''] = members;
			const id = newId(PREFIX_OF_KIND[kind], random);
			const { conversation } = await submit(creator, id, {
				type: 'create',
				conversation: {
					id,
					team: TEAM,
					kind,
					name: kind === 'public' || kind === 'private' ? `${name}-${id}`.toLowerCase() : '',
					creator,
					archived: false,
					topic: NO_CHANNEL_TEXT,
					purpose: NO_CHANNEL_TEXT,
					previousNames: [],
					people: kind === 'im' || kind === 'mpim' ? members : [],
				},
				members,
			});
			return { id, at: conversation?.createdTs ?? 0 };
		},
		join: async (c, user, by) => {
			if (by === undefined) await submit(user, c, { type: 'join' });
			else await submit(by, c, { type: 'invite', users: [user], force: false });
		},
		leave: async (c, user) => void (await submit(user, c, { type: 'leave' })),
		kick: async (c, user, by) => void (await submit(by, c, { type: 'kick', user })),
		archive: async (c, by) => void (await submit(by, c, { type: 'archive' })),
		unarchive: async (c, by) => void (await submit(by, c, { type: 'unarchive' })),
		post: async (c, user, text, { threadTs, broadcast }) => {
			const { message } = await submit(user, c, {
				type: 'post',
				content: { text, extra: null },
				threadTs: threadTs ?? null,
				broadcast: broadcast ?? false,
				clientMsgId: null,
			});
			return message?.ts ?? 0;
		},
		edit: async (c, user, ts, text) =>
			void (await submit(user, c, { type: 'edit', ts, content: { text, extra: null } })),
		remove: async (c, user, ts) => void (await submit(user, c, { type: 'delete', ts })),
		mark: async (c, user, ts, revision) => {
			const { ignored } = await marking.mark(user, c, { type: 'read', ts, revision });
			return { ignored };
		},
		markUnread: async (c, user, ts) => void (await marking.mark(user, c, { type: 'unread', ts })),
		markMessage: async (c, user, ts) => void (await marking.mark(user, c, { type: 'messages', tss: [ts] })),
		markAllRead: (user) => marking.markAllRead(user),
		mute: async (c, user, muted) => void (await marking.setPreference(user, c, { muted })),
		markThread: async (c, threadTs, user, ts) => {
			const { follow } = await submit(user, c, { type: 'follow_status', threadTs });
			if (!follow) throw new Error(`${user} does not follow ${threadTs}`);
			if (await readState.thread(user, c, threadTs))
				await marking.markThread(user, c, threadTs, { type: 'read', ts });
		},
		markThreadUnread: async (c, threadTs, user, ts) =>
			void (await marking.markThread(user, c, threadTs, { type: 'unread', ts })),
		follow: async (c, threadTs, user, lastRead) =>
			void (await submit(user, c, { type: 'follow', threadTs, lastRead: lastRead ?? null })),
		unfollow: async (c, threadTs, user) => void (await submit(user, c, { type: 'unfollow', threadTs })),
		setActive: async (user, active) => {
			await marking.setActive(user, active);
			return clock.last();
		},

		rows: async (user) => {
			let rows: Record<string, Row> = {};
			await readState.countsInto(user, {
				begin: () => {
					rows = {};
				},
				row: (row) => {
					rows[row.conversation] = rowOf(row);
				},
			});
			return rows;
		},
		badge: async (user) => (await readState.counts(user)).badge,
		unreads: async (user, c) => (await readState.unread(user, c)).map(({ ts }) => ts),
		threads: async (user) => {
			const rows = await readState.threads(user);
			const { threads } = await readState.counts(user);
			return {
				threads: rows
					.filter((row) => row.latestReply > 0)
					.map((row) => ({
						channel: row.conversation,
						thread_ts: row.threadTs,
						last_read: row.lastRead,
						unread: row.unread,
						mentions: row.mentions,
					})),
				totals: {
					has_unreads: threads.unread > 0,
					unread_count: threads.unread,
					mention_count: threads.mentions,
				},
			};
		},
		members: async (c) => [...(await store.directory.members(c, null, 1_000_000)).items],
		timeline: async (c) =>
			(await store.history.timeline(c, all)).filter(({ deleted }) => !deleted).map(({ ts }) => ts),
		close: async () => {
			requests.close();
			await engine.close();
		},
	};
}
