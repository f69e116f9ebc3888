import type { ThreadInfo } from '../ports/store.ts';
import { ROWS_A_STEP, type SqlReader } from './sql.ts';

/**
 * How large threads look from outside. A thread is summed up once, in steps, and kept; after that only the replies since
 * are read. The store is asked every time whether a reply was deleted meanwhile, so any process may write: then the
 * thread is summed up again.
 */

export const REPLY_USERS_SHOWN = 5;
/** What is kept, in ids of users over all threads. */
const MOST_USERS_KEPT = 100_000;

const CHANGED = `SELECT COALESCE(max(changed_ts), 0) AS newest FROM messages
	WHERE conversation = $1 AND changed_ts > ts`;
const DELETED_SINCE = `SELECT ts FROM messages
	WHERE conversation = $1 AND changed_ts > $2 AND changed_ts > ts AND thread_ts = $3 AND deleted = 1 LIMIT 1`;
const REPLIES_AFTER = `SELECT ts, user_id FROM messages
	WHERE conversation = $1 AND thread_ts = $2 AND ts > $3 AND deleted = 0 ORDER BY ts LIMIT $4`;

interface Summary {
	replyCount: number;
	latestReply: number;
	/** In order of first reply. */
	readonly users: Set<string>;
	/** Everything that was deleted up to this stamp is left out. */
	asOf: number;
}

export class ThreadSummaries {
	/** The one used longest ago comes first. */
	private readonly kept = new Map<string, Summary>();
	private usersKept = 0;
	/** Being summed up. */
	private readonly underWay = new Map<string, Promise<ThreadInfo>>();
	/** Summed up after that, for those who asked meanwhile: the one under way may have read before what they know of was written. */
	private readonly next = new Map<string, Promise<ThreadInfo>>();

	constructor(private readonly reader: SqlReader) {}

	of(conversation: string, threadTs: number): Promise<ThreadInfo> {
		const key = `${conversation} ${threadTs}`;
		const next = this.next.get(key);
		if (next) return next;
		const underWay = this.underWay.get(key);
		if (!underWay) return this.begin(key, conversation, threadTs);
		const after = underWay
			.catch(() => undefined)
			.then(() => {
				this.next.delete(key);
				return this.begin(key, conversation, threadTs);
			});
		this.next.set(key, after);
		return after;
	}

	private begin(key: string, conversation: string, threadTs: number): Promise<ThreadInfo> {
		const summing = this.sumUp(key, conversation, threadTs).finally(() => this.underWay.delete(key));
		this.underWay.set(key, summing);
		return summing;
	}

	private async sumUp(key: string, conversation: string, threadTs: number): Promise<ThreadInfo> {
		const summary = (await this.usable(key, conversation, threadTs)) ?? {
			replyCount: 0,
			latestReply: 0,
			users: new Set<string>(),
			asOf: await this.newestChange(conversation),
		};
		this.forget(key);
		await this.takeIn(summary, conversation, threadTs);
		this.keep(key, summary);
		const { replyCount, latestReply, users } = summary;
		const replyUsers = [...users.values().take(REPLY_USERS_SHOWN)];
		return { threadTs, replyCount, latestReply, replyUsers, replyUsersCount: users.size };
	}

	/** What is kept of the thread, unless a reply was deleted since. */
	private async usable(key: string, conversation: string, threadTs: number): Promise<Summary | undefined> {
		const kept = this.kept.get(key);
		if (!kept) return undefined;
		const newest = await this.newestChange(conversation);
		if (newest === kept.asOf) return kept;
		const deleted = await this.reader.all(DELETED_SINCE, [conversation, kept.asOf, threadTs]);
		if (deleted.length > 0) return undefined;
		kept.asOf = newest;
		return kept;
	}

	private async newestChange(conversation: string): Promise<number> {
		const [row] = await this.reader.all<{ newest: number }>(CHANGED, [conversation]);
		return row?.newest ?? 0;
	}

	private async takeIn(summary: Summary, conversation: string, threadTs: number): Promise<void> {
		for (;;) {
			const params = [conversation, threadTs, summary.latestReply, ROWS_A_STEP];
			const rows = await this.reader.all<{ ts: number; user_id: string }>(REPLIES_AFTER, params);
			for (const row of rows) summary.users.add(row.user_id);
			summary.replyCount += rows.length;
			summary.latestReply = rows.at(-1)?.ts ?? summary.latestReply;
			if (rows.length < ROWS_A_STEP) return;
			await this.reader.pause();
		}
	}

	private forget(key: string): void {
		this.usersKept -= this.kept.get(key)?.users.size ?? 0;
		this.kept.delete(key);
	}

	private keep(key: string, summary: Summary): void {
		this.kept.set(key, summary);
		this.usersKept += summary.users.size;
		for (const oldest of this.kept.keys()) {
			if (this.usersKept <= MOST_USERS_KEPT || oldest === key) return;
			this.forget(oldest);
		}
	}
}
