import { expect, test } from 'bun:test';
import { inTimeline, type Message } from '../../src/model/message.ts';
import type { Command } from '../../src/sequencer/commands.ts';
import { type Decision, sequence } from '../../src/sequencer/decide.ts';
import type { Effect } from '../../src/sequencer/effects.ts';
import { Conversations } from '../../src/worker/conversations.ts';
import { Random } from '../support/oracle/random.ts';
import { FactsStore } from '../support/sequencer/facts-store.ts';
import { CHANNEL, createChannel, RandomCommands } from '../support/sequencer/random-commands.ts';

/**
 * Deciding is a pure function of the log: an owner that evicts state, loads it again, dies with part of its work
 * unwritten, and is replaced by one that replays, makes the same decisions as an owner that remembers everything. All in
 * memory, from a seed.
 */

const newOwner = (store: FactsStore): Conversations =>
	new Conversations(store.source as never, store.history as never, () => 0);

async function decided(owner: Conversations, command: Command): Promise<Decision> {
	return sequence(await owner.ready(command), command);
}

interface Written {
	readonly command: Command;
	readonly decision: Decision;
}

/** The decisions of an owner that has all state in memory. */
async function historyOf(seed: number, length: number): Promise<Written[]> {
	const store = new FactsStore();
	const owner = newOwner(store);
	const commands = new RandomCommands(seed);
	const log: Written[] = [];
	for (let index = 0; index < length; index += 1) {
		const command = index === 0 ? createChannel(1_000_000) : commands.next();
		const decision = await decided(owner, command);
		store.write(decision.effects);
		commands.saw(decision);
		log.push({ command, decision });
	}
	return log;
}

/** Processes the log with an owner that fails in every way, and compares. Returns how often each failure happened. */
async function checkFaulty(seed: number, log: readonly Written[], faults = { writes: 0.3, deaths: 0.02 }) {
	const random = new Random(seed);
	const store = new FactsStore();
	let owner = newOwner(store);
	let written = 0;
	const seen = { deaths: 0, replayed: 0, evictions: 0 };
	for (let next = 0; next < log.length; ) {
		const { command, decision } = log[next]!;
		const again = await decided(owner, command);
		if (!Bun.deepEquals(again, decision))
			throw new Error(
				`seed ${seed}, command ${next} ${JSON.stringify(command)}: ${JSON.stringify(again)}, not ${JSON.stringify(decision)}`,
			);
		next += 1;
		const writeUpTo = random.chance(faults.writes) ? written + random.below(next - written + 1) : written;
		for (; written < writeUpTo; written += 1) store.write(log[written]!.decision.effects);
		const newestWritten = newestOf(log.slice(0, written));
		owner.evictOld(CHANNEL, written === next ? Number.POSITIVE_INFINITY : newestWritten);
		if (written === next && random.chance(0.2)) {
			owner.evict(1, () => true);
			seen.evictions += 1;
		}
		if (random.chance(faults.deaths)) {
			// The next owner knows only what was written.
			owner = newOwner(store);
			seen.deaths += 1;
			seen.replayed += next - written;
			next = written;
		}
	}
	return seen;
}

const newestOf = (log: readonly Written[]): number =>
	log.findLast(({ decision }) => decision.effects.length > 0)?.decision.effects.at(-1)?.at ?? 0;

test('an owner that evicts state, dies and replays makes the same decisions', async () => {
	const seen = { deaths: 0, replayed: 0, evictions: 0 };
	for (let seed = 1; seed <= 60; seed += 1) {
		const once = await checkFaulty(seed, await historyOf(seed, 250));
		seen.deaths += once.deaths;
		seen.replayed += once.replayed;
		seen.evictions += once.evictions;
	}
	expect(seen.deaths).toBeGreaterThan(100);
	expect(seen.replayed).toBeGreaterThan(200);
	expect(seen.evictions).toBeGreaterThan(200);
});

test('the same with more state than fits in memory, and a store that is far behind', async () => {
	for (let seed = 1; seed <= 12; seed += 1)
		await checkFaulty(seed, await historyOf(seed, 1_500), { writes: 0.02, deaths: 0.002 });
	const long = await historyOf(13, 8_000);
	await checkFaulty(13, long, { writes: 1, deaths: 0 });
	await checkFaulty(13, long, { writes: 0, deaths: 0 });
});

test('decisions keep their invariants', async () => {
	for (let seed = 1; seed <= 40; seed += 1) checkPromises(await historyOf(seed, 300));
});

/** Recounts everything that effects carry: stamps, members, previous messages, threads. */
function checkPromises(log: readonly Written[]): void {
	const members = new Set<string>();
	const messages = new Map<number, Message>();
	let newest = 0;
	const timeline = () =>
		[...messages.values()]
			.filter(inTimeline)
			.map(({ ts }) => ts)
			.sort((a, b) => a - b);
	const replies = (root: number) =>
		[...messages.values()].filter(({ threadTs, deleted }) => threadTs === root && !deleted);
	const take = (effect: Effect): void => {
		if (effect.type === 'created') for (const user of effect.members) members.add(user);
		if (effect.type === 'joined') for (const user of effect.users) members.add(user);
		if (effect.type === 'left') members.delete(effect.user);
		if (effect.type === 'posted') expect(effect.prevTs).toBe(previousOf(effect.message, timeline()));
		if ('message' in effect) messages.set(effect.message.ts, effect.message);
		if ('thread' in effect && effect.thread) {
			const found = replies(effect.thread.root.ts);
			expect(effect.thread.replyCount).toBe(found.length);
			expect(effect.thread.latestReply).toBe(Math.max(0, ...found.map(({ ts }) => ts)));
			expect(effect.thread.replyUsersCount).toBe(new Set(found.map(({ user }) => user)).size);
		}
		expect(effect.conversation.memberCount).toBe(members.size);
	};
	for (const { decision } of log) {
		const stamps = new Set(decision.effects.map(({ at }) => at));
		expect(stamps.size).toBeLessThanOrEqual(1);
		for (const at of stamps) {
			expect(at).toBeGreaterThan(newest);
			newest = at;
		}
		for (const effect of decision.effects) take(effect);
		if (!decision.outcome.ok) expect(decision.effects).toEqual([]);
	}
}

const previousOf = (message: Message, timeline: readonly number[]): number | null =>
	inTimeline(message) ? (timeline.at(-1) ?? null) : null;
