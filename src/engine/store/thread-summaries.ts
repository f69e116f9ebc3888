import type { ThreadInfo } from '../ports/store.ts';
import { ROWS_PER_STEP, type SqlReader } from './sql.ts';

/**
 * Summaries of large threads. A thread is summarised once, in steps, and cached; after that only new replies
 * are read. Every read checks in the store whether a reply was deleted since, because any process may write; if so, the
 * thread is summarised again.
 */

export const REPLY_USERS_SHOWN = 5;
/** Size of the cache, in user ids over all threads. */
const MAX_CACHED_USERS = 100_000;

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
	/** Deletions up to this stamp are accounted for. */
	asOf: number;
}

export class ThreadSummaries {
	/** Least recently used first. */
	private readonly cache = new Map<string, Summary>();
	private cachedUsers = 0;
	/** Summaries in progress. */
	private readonly inProgress = new Map<string, Promise<ThreadInfo>>();
	/** Summaries that start when the one in progress ends, for callers that may know of a reply that it has not read. */
	private readonly next = new Map<string, Promise<ThreadInfo>>();

	constructor(private readonly reader: SqlReader) {}

	of(conversation: string, threadTs: number): Promise<ThreadInfo> {
		const key = `${conversation} ${threadTs}`;
		const next = this.next.get(key);
		if (next) return next;
		const inProgress = this.inProgress.get(key);
		if (!inProgress) return this.begin(key, conversation, threadTs);
		const after = inProgress
			.catch(() => undefined)
			.then(() => {
				this.next.delete(key);
				return this.begin(key, conversation, threadTs);
			});
		this.next.set(key, after);
		return after;
	}

	private begin(key: string, conversation: string, threadTs: number): Promise<ThreadInfo> {
		const summary = this.summarise(key, conversation, threadTs).finally(() => this.inProgress.delete(key));
		this.inProgress.set(key, summary);
		return summary;
	}

	private async summarise(key: string, conversation: string, threadTs: number): Promise<ThreadInfo> {
		const summary = (await this.usable(key, conversation, threadTs)) ?? {
			replyCount: 0,
			latestReply: 0,
			users: new Set<string>(),
			asOf: await this.newestChange(conversation),
		};
		this.forget(key);
		await this.addNewReplies(summary, conversation, threadTs);
		this.keep(key, summary);
		const { replyCount, latestReply, users } = summary;
		const replyUsers = [...users.values().take(REPLY_USERS_SHOWN)];
		return { threadTs, replyCount, latestReply, replyUsers, replyUsersCount: users.size };
	}

	/** The cached summary, unless a reply was deleted since. */
	private async usable(key: string, conversation: string, threadTs: number): Promise<Summary | undefined> {
		const cached = this.cache.get(key);
		if (!cached) return undefined;
		const newest = await this.newestChange(conversation);
		if (newest === cached.asOf) return cached;
		const deleted = await this.reader.all(DELETED_SINCE, [conversation, cached.asOf, threadTs]);
		if (deleted.length > 0) return undefined;
		cached.asOf = newest;
		return cached;
	}

	private async newestChange(conversation: string): Promise<number> {
		const [row] = await this.reader.all<{ newest: number }>(CHANGED, [conversation]);
		return row?.newest ?? 0;
	}

	private async addNewReplies(summary: Summary, conversation: string, threadTs: number): Promise<void> {
		for (;;) {
			const params = [conversation, threadTs, summary.latestReply, ROWS_PER_STEP];
			const rows = await this.reader.all<{ ts: number; user_id: string }>(REPLIES_AFTER, params);
			for (const row of rows) summary.users.add(row.user_id);
			summary.replyCount += rows.length;
			summary.latestReply = rows.at(-1)?.ts ?? summary.latestReply;
			if (rows.length < ROWS_PER_STEP) return;
			await this.reader.pause();
		}
	}

	private forget(key: string): void {
		this.cachedUsers -= this.cache.get(key)?.users.size ?? 0;
		this.cache.delete(key);
	}

	private keep(key: string, summary: Summary): void {
		this.cache.set(key, summary);
		this.cachedUsers += summary.users.size;
		for (const oldest of this.cache.keys()) {
			if (this.cachedUsers <= MAX_CACHED_USERS || oldest === key) return;
			this.forget(oldest);
		}
	}
}
