import type { Driver } from './driver.ts';
import type { Oracle } from './oracle.ts';
import type { Follow } from './types.ts';

/**
 * Compares cursors by the newest message of another user at or before them, because in a cluster the exact cursor depends
 * on timing. A gateway applies a mark while a worker applies posts, which move the cursors of their authors. A mark and a
 * post of one user at the same moment may take effect in either order, and a mark after the newest message ends at the
 * message that was newest when the gateway decided it. The counts are the same in each case; only `last_read` differs, by
 * messages that never count for this user.
 */
export function byForeignMessages(
	driver: Driver,
	oracle: Oracle,
	posts: readonly { readonly c: string; readonly ts: number; readonly user: string }[],
): { driver: Driver; oracle: Oracle } {
	const authors = new Map(posts.map(({ c, ts, user }) => [`${c} ${ts}`, user]));
	const newestRead = (user: string, channel: string, shown: readonly number[], cursor: number): number =>
		shown.findLast((ts) => ts <= cursor && authors.get(`${channel} ${ts}`) !== user) ?? 0;
	const rows = <R extends { last_read?: number }>(user: string, all: Record<string, R>): Record<string, R> =>
		Object.fromEntries(
			Object.entries(all).map(([channel, row]) => [
				channel,
				row.last_read === undefined
					? row
					: { ...row, last_read: newestRead(user, channel, oracle.timeline(channel), row.last_read) },
			]),
		);
	const follows = <F extends Follow>(user: string, all: readonly F[]): F[] =>
		all.map((follow) => {
			const { channel, thread_ts, last_read } = follow;
			return {
				...follow,
				last_read: newestRead(user, channel, oracle.replies(channel, thread_ts), last_read),
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
