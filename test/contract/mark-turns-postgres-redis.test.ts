import { describe, expect, test } from 'bun:test';
import { MemoryBus } from '../../src/engine/embedded/memory-bus.ts';
import type { StateSource } from '../../src/engine/ports/store.ts';
import type { Views } from '../../src/engine/ports/views.ts';
import { FocusMarks } from '../../src/gateway/socket/focus-marks.ts';
import { Marking } from '../../src/unread/marking.ts';
import { eventually } from '../support/eventually.ts';
import { LAYOUTS } from '../support/redis.ts';
import { readStateWorlds } from '../support/redis-read-state.ts';
import { BEGIN, conversation, created, postsIn } from '../support/store/facts.ts';
import type { RowChange } from '../support/whole-read-state.ts';

/**
 * Marks of one user in one conversation take turns. Marks of others do not wait for them, and focus does not queue many.
 */

const CHANNEL = conversation('C01');
const MESSAGES = 500;
const publish = () => undefined;

/** A store that answers about one user when the test says so: marks of that user wait for it. */
function slowAbout(source: StateSource, slow: string) {
	let release = (): void => undefined;
	const released = new Promise<void>((done) => {
		release = done;
	});
	let asked = 0;
	const user = async (id: string) => {
		if (id === slow) {
			asked += 1;
			await released;
		}
		return source.user(id);
	};
	const proxy = new Proxy(source, {
		get: (target, name) => {
			if (name === 'user') return user;
			const value = Reflect.get(target, name);
			return typeof value === 'function' ? value.bind(target) : value;
		},
	});
	return { source: proxy, release: () => release(), asked: () => asked };
}

for (const layout of LAYOUTS) {
	describe(`turns of marks on ${layout}`, () => {
		const world = readStateWorlds(layout);

		async function scene() {
			const { process, store } = await world();
			const slow = slowAbout(store.source, 'U02');
			const { readState, apply } = await process({ source: slow.source });
			await apply(created(CHANNEL, ['U01', 'U02', 'U03']), ...postsIn(CHANNEL, 1, MESSAGES + 1));
			return { readState, slow };
		}

		test('a slow mark of one user delays no other user in the conversation', async () => {
			const { readState, slow } = await scene();
			const last = { type: 'read', ts: BEGIN + MESSAGES } as const;
			const waiting = readState.mark('U02', 'C01', last, publish);
			await eventually(async () => expect(slow.asked()).toBeGreaterThan(0), 10_000);
			const other = readState.mark('U03', 'C01', last, publish);
			const outcome = await Promise.race([other, Bun.sleep(30_000).then(() => 'still waiting' as const)]);
			expect(outcome).toMatchObject({ row: { unread: 0, lastRead: last.ts } });
			slow.release();
			expect(await waiting).toMatchObject({ row: { unread: 0, lastRead: last.ts } });
		});

		test('marks of one user in one conversation keep their order', async () => {
			const { readState, slow } = await scene();
			const first = readState.mark('U02', 'C01', { type: 'read', ts: BEGIN + MESSAGES }, publish);
			const second = readState.mark('U02', 'C01', { type: 'unread', ts: BEGIN + 10 }, publish);
			slow.release();
			const [before, after] = (await Promise.all([first, second])) as [RowChange, RowChange];
			expect(before.row).toMatchObject({ unread: 0, revision: 0 });
			expect(after.row).toMatchObject({ unread: MESSAGES - 9, revision: 1 });
			expect(after.row.position.user).toBeGreaterThan(before.row.position.user);
		});

		test('a busy channel in focus has one mark in flight, and the next mark covers all messages that arrived meanwhile', async () => {
			const { readState, slow } = await scene();
			let calls = 0;
			const counting: Views = Object.assign(Object.create(readState.port), {
				change: (...args: Parameters<Views['change']>) => {
					calls += 1;
					return readState.port.change(...args);
				},
			});
			const failures: unknown[] = [];
			const marks = new FocusMarks({
				marking: new Marking(counting, readState, new MemoryBus()),
				isActive: async () => true,
				failed: (error) => failures.push(error),
			});
			const place = { user: 'U02', conversation: 'C01', revision: 0 };
			for (let index = 1; index <= MESSAGES; index += 1) {
				marks.add(place, [BEGIN + index]);
				if (index % 50 === 0) await Bun.sleep(1);
			}
			expect(marks.inFlight).toBe(1);
			expect(calls).toBe(1);
			slow.release();
			await eventually(async () => expect(marks.inFlight).toBe(0), 20_000);
			expect(calls).toBe(2);
			expect(failures).toEqual([]);
			expect(await readState.row('U02', 'C01')).toMatchObject({ unread: 0, lastRead: BEGIN + MESSAGES });
		});
	});
}
