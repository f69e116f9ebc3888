import { connectCommands } from '../../src/engine/cluster/redis/connection.ts';
import { EpochGuard } from '../../src/engine/cluster/redis/epoch-guard.ts';
import { Epochs } from '../../src/engine/cluster/redis/epochs.ts';
import { Keys } from '../../src/engine/cluster/redis/keys.ts';
import { membershipField, packMembership, STAMP } from '../../src/engine/cluster/redis/read-state/packing.ts';
import { RedisViews } from '../../src/engine/cluster/redis/read-state/redis-views.ts';
import { openSqliteStore } from '../../src/engine/embedded/sqlite/open.ts';
import { risingClock } from '../../src/model/ts.ts';
import { ReadState } from '../../src/unread/read-state.ts';
import { channelId, Dataset, postedOf, usersFrom } from '../support/dataset.ts';
import { figure, ratio } from '../support/figures.ts';
import { cpuSeconds } from '../support/process-cpu.ts';
import type { Bench, Scenario } from '../support/scenario.ts';
import { benchServices } from '../support/services.ts';

/**
 * The read state in Redis: the cost of a post, compared with designs that write for every member; and the size of a
 * cursor.
 */

const POSTS = 1_000;
/** The number of posts with the other designs, which take much longer. */
const POSTS_TO_EACH = 10;
/** How many posts of one conversation a worker under load applies at once. */
const BATCH = 100;
const CONVERSATIONS_EACH = 200;
const PREFIX = 'bench:';

type Redis = Awaited<ReturnType<typeof connectCommands>>;

/**
 * A counter that a member's client sets to 0 when the member reads, and that does not rise for members who have the
 * channel in focus.
 */
const GATED_COUNTER = `for index = 1, #KEYS, 2 do
	if redis.call('EXISTS', KEYS[index + 1]) == 0 then redis.call('INCR', KEYS[index]) end
end`;
const MEMBERS_A_CALL = 500;

export const redisPosts: Scenario = {
	name: 'redis-posts',
	about:
		'A post in Redis against a ZSET entry and against a conditional counter for every member; bytes of a cursor',
	run: async (bench) => {
		const members = usersFrom(0, bench.pick(1_000, 10_000, 10_000));
		const addressOf = await benchServices(bench, 'redis');
		const url = addressOf('TIDEMARK_TEST_REDIS_URL');
		const redis = await connectCommands({ url, prefix: '', cluster: false }, () => undefined);
		bench.atEnd(() => redis.disconnect());
		const pid = Number(/^process_id:(\d+)/m.exec(await redis.info('server'))?.[1]);
		const ours = await ownPosts(bench, redis, members);
		const measured = {
			ours: [] as Cost[],
			batches: [] as Cost[],
			entries: [] as Cost[],
			counters: [] as Cost[],
		};
		const perCursor: number[] = [];
		for (let run = 0; run < bench.runs; run += 1) {
			measured.ours.push(await cost(pid, POSTS, () => ours(1)));
			measured.batches.push(perPost(await cost(pid, POSTS / BATCH, () => ours(BATCH))));
			measured.entries.push(await cost(pid, POSTS_TO_EACH, (ts) => entryForEach(redis, members, ts)));
			measured.counters.push(await cost(pid, POSTS_TO_EACH, () => counterForEach(redis, members)));
			perCursor.push(await bytesOfCursor(bench, redis, run));
			const [own, entry, counter] = [measured.ours, measured.entries, measured.counters].map((all) =>
				all.at(-1),
			);
			bench.progress(
				`${own?.ms.toFixed(2)} ms per post; ${entry?.ms.toFixed(1)} with entries, ${counter?.ms.toFixed(1)} with counters; ${perCursor.at(-1)?.toFixed(1)} bytes per cursor`,
			);
		}
		const of = (costs: readonly Cost[], what: keyof Cost) => costs.map((one) => one[what]);
		const against = (name: string, costs: readonly Cost[]) =>
			[
				{ how: 'a post in Tidemark', own: measured.ours },
				{ how: 'a post of a batch', own: measured.batches },
			].flatMap(({ how, own }) => [
				ratio(`${name} against ${how}: time`, of(costs, 'ms'), of(own, 'ms'), { atLeast: 300 }),
				ratio(`${name} against ${how}: CPU of Redis`, of(costs, 'cpu'), of(own, 'cpu'), { atLeast: 300 }),
			]);
		return {
			configuration: {
				members: members.length,
				'a post in Tidemark': `all work in Redis for a post, as a worker does it: the effect applied, the author's cursor moved; ${POSTS} one after the other`,
				'a post of a batch': `the same, ${BATCH} posts of as many authors at once, as a worker takes them under load`,
				'an entry for each': `one ZADD for each member, in one pipeline; ${POSTS_TO_EACH} posts`,
				'a counter for each': `Lua over ${MEMBERS_A_CALL} members per call: incremented unless the member has the conversation open; ${POSTS_TO_EACH} posts`,
				'a cursor': `a user in ${CONVERSATIONS_EACH} conversations, MEMORY USAGE of the hash; hash-max-listpack-entries 1024`,
			},
			figures: [
				...against('an entry for each member', measured.entries),
				...against('a counter for each member', measured.counters),
				figure('a post in Tidemark', 'ms', of(measured.ours, 'ms')),
				figure('a post in Tidemark, CPU of Redis', 'ms', of(measured.ours, 'cpu')),
				figure('a post of a batch', 'ms', of(measured.batches, 'ms')),
				figure('a post of a batch, CPU of Redis', 'ms', of(measured.batches, 'cpu')),
				figure('a post with an entry for each member', 'ms', of(measured.entries, 'ms')),
				figure('a post with a counter for each member', 'ms', of(measured.counters, 'ms')),
				figure('a cursor', 'bytes', perCursor, { atMost: 33 }),
			],
			notes: [
				'The field of a cursor also has membership, level, muting, and the times of joining and of the last change, so that the store accepts marks in any order.',
			],
		};
	},
};

interface Cost {
	/** Milliseconds per post. */
	readonly ms: number;
	readonly cpu: number;
}

const perPost = ({ ms, cpu }: Cost): Cost => ({ ms: ms / BATCH, cpu: cpu / BATCH });

async function cost(pid: number, count: number, post: (ts: number) => Promise<unknown>): Promise<Cost> {
	for (let index = 0; index < count / 10; index += 1) await post(Date.now() * 1000 + index);
	const [began, cpu] = [performance.now(), cpuSeconds(pid)];
	for (let index = 0; index < count; index += 1) await post(Date.now() * 1000 + index);
	return { ms: (performance.now() - began) / count, cpu: ((cpuSeconds(pid) - cpu) * 1000) / count };
}

/**
 * Loads a conversation with these members. Returns a function that applies `count` posts to it at once, each
 * by a different member.
 */
async function ownPosts(bench: Bench, redis: Redis, members: readonly string[]) {
	const store = await openSqliteStore(bench.directory('data'));
	const dataset = await Dataset.in(store);
	const { conversation, done } = dataset.channel(members);
	await done;
	bench.atEnd(() => store.close());
	const clock = risingClock(() => Date.now() * 1000);
	const { source, ledger } = store;
	const epochs = new Epochs(redis, PREFIX);
	await epochs.begin(clock.next);
	const views = await RedisViews.open({
		commands: redis,
		keys: new Keys(PREFIX),
		guard: new EpochGuard(epochs),
		source,
		ledger,
		clock,
		nowMicros: clock.next,
	});
	await new ReadState(views).row(members[0] ?? '', conversation.id);
	let last = 0;
	return async (count: number) => {
		const effects = members.slice(0, count).map((author) => {
			const before = last;
			last = clock.next();
			return postedOf(conversation, author, last, before);
		});
		return views.apply(effects, 0, (moved) => moved);
	};
}

function entryForEach(redis: Redis, members: readonly string[], ts: number): Promise<unknown> {
	const pipeline = redis.pipeline();
	for (const member of members) pipeline.zadd(`{z}:${member}`, ts, String(ts));
	return pipeline.exec();
}

function counterForEach(redis: Redis, members: readonly string[]): Promise<unknown> {
	const pipeline = redis.pipeline();
	for (let from = 0; from < members.length; from += MEMBERS_A_CALL) {
		const some = members.slice(from, from + MEMBERS_A_CALL);
		const keys = some.flatMap((member) => [`{c}:${member}`, `{c}:${member}:looks`]);
		pipeline.eval(GATED_COUNTER, keys.length, ...keys);
	}
	return pipeline.exec();
}

/** The state of a user who has read some messages: cursor, join and change have different times. */
async function bytesOfCursor(bench: Bench, redis: Redis, run: number): Promise<number> {
	await redis.config('SET', 'hash-max-listpack-entries', '1024');
	const now = Date.now() * 1000;
	const users = bench.pick(20, 200, 200);
	const usage = async (user: number, cursors: number) => {
		const key = `cursors:${run}:${user}:${cursors}`;
		const fields = Array.from({ length: cursors }, (_, index) => {
			const joined = now - 90 * 86_400e6 + index * 1_234_567;
			const at = now - index * 7_654_321;
			const of = { member: true, muted: false, level: 'all', revision: 0, ahead: new Set<number>() } as const;
			return [
				membershipField(channelId(index)),
				packMembership({ ...of, joined, cursor: at - 2_345_678, at }),
			];
		});
		await redis.hset(key, STAMP, String(now), ...fields.flat());
		return (await redis.memory('USAGE', key)) ?? 0;
	};
	let bytes = 0;
	for (let user = 0; user < users; user += 1)
		bytes += (await usage(user, CONVERSATIONS_EACH)) - (await usage(user, 0));
	return bytes / users / CONVERSATIONS_EACH;
}
