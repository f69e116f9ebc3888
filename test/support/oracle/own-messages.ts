import type { Driver } from './driver.ts';
import type { Oracle } from './oracle.ts';
import type { Follow } from './types.ts';

export interface SentMessage {
	readonly c: string;
	readonly ts: number;
	readonly user: string;
	readonly threadTs: number | null;
}

/**
 * Compares cursors regardless of a user's own messages behind them.
 *
 * In a cluster the worker applies a post and then moves its author's cursor. A mark of the author from another device may come in between:
 * its row shows the post, and the cursor still moves. Both orders are right and count the same, because own messages never count; only
 * `last_read` is before or on the own messages.
 */
export function pastOwnMessages(
	driver: Driver,
	oracle: Oracle,
	posts: readonly SentMessage[],
): { driver: Driver; oracle: Oracle } {
	const inOrder = [...posts].sort((a, b) => a.ts - b.ts);
	/** The cursor moved over the own messages that follow it. `shown`: what is not deleted there. */
	const moved = (
		user: string,
		channel: string,
		root: number | null,
		shown: readonly number[],
		cursor: number,
	): number => {
		let last = cursor;
		for (const post of inOrder) {
			if (post.c !== channel || post.ts <= cursor) continue;
			const isShown = shown.includes(post.ts);
			if (!isShown && post.threadTs !== root) continue;
			if (post.user === user) last = post.ts;
			else if (isShown) break;
		}
		return last;
	};
	const rows = <R extends { last_read?: number }>(user: string, all: Record<string, R>): Record<string, R> =>
		Object.fromEntries(
			Object.entries(all).map(([channel, row]) => [
				channel,
				row.last_read === undefined
					? row
					: { ...row, last_read: moved(user, channel, null, oracle.timeline(channel), row.last_read) },
			]),
		);
	const follows = <F extends Follow>(user: string, all: readonly F[]): F[] =>
		all.map((follow) => {
			const { channel, thread_ts, last_read } = follow;
			return {
				...follow,
				last_read: moved(user, channel, thread_ts, oracle.replies(channel, thread_ts), last_read),
			};
		});
	const compared = <T extends Pick<Oracle, 'rows' | 'threads' | 'follows'> | Driver>(of: T): T =>
		new Proxy(of, {
			get(target, name) {
				const value = Reflect.get(target, name, target);
				if (typeof value !== 'function') return value;
				const ask = value.bind(target);
				if (name === 'rows') return (user: string) => then(ask(user), (all) => rows(user, all as never));
				if (name === 'follows')
					return (user: string) => then(ask(user), (all) => follows(user, all as never));
				if (name === 'threads')
					return (user: string) =>
						then(ask(user), (view) => {
							const { threads, totals } = view as { threads: Follow[]; totals: unknown };
							return { threads: follows(user, threads), totals };
						});
				return ask;
			},
		});
	return { driver: compared(driver), oracle: compared(oracle) };
}

const then = (value: unknown, map: (value: unknown) => unknown): unknown =>
	value instanceof Promise ? value.then(map) : map(value);
