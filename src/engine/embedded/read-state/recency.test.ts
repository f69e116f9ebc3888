import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { LoadedConversation } from './loaded.ts';
import { Recency } from './recency.ts';

/** Against sorting everything, whatever came into memory, was posted to, deleted from or let go. */

class Model {
	readonly recency = new Recency();
	private readonly there: LoadedConversation[] = [];
	private stamp = 1_000_000;
	private made = 0;

	/** Comes into memory, with its newest message somewhere in the past, or without any. */
	arrive(latest: number): void {
		this.made += 1;
		const id = `C${String(this.made).padStart(5, '0')}`;
		const past = { archived: false, stamp: 0, latest: latest === 0 ? 0 : latest * 1000 + this.made / 1000 };
		const conversation = new LoadedConversation(this.made, id, 'public', past);
		this.there.push(conversation);
		this.recency.add(conversation);
	}

	post(index: number): void {
		this.with(index, ({ timeline }) => {
			this.stamp += 1;
			timeline.append({ ts: this.stamp, author: 0, flags: 0, named: [] });
		});
	}

	/** The newest of those posted here. */
	remove(index: number): void {
		this.with(index, ({ timeline }) => {
			if (timeline.size > 0) timeline.remove(timeline.tsAt(timeline.size - 1));
		});
	}

	private with(index: number, change: (conversation: LoadedConversation) => void): void {
		const conversation = this.there[index % Math.max(1, this.there.length)];
		if (!conversation) return;
		const { latest } = conversation.timeline;
		change(conversation);
		if (conversation.timeline.latest !== latest) this.recency.touch(conversation);
	}

	evict(index: number): void {
		const [gone] = this.there.splice(index % Math.max(1, this.there.length), 1);
		if (!gone) return;
		gone.evicted = true;
		this.recency.removed();
	}

	check(): void {
		const expected = [...this.there].sort(
			(a, b) => b.timeline.latest - a.timeline.latest || (a.id < b.id ? -1 : 1),
		);
		for (const latest of [Number.MAX_SAFE_INTEGER, expected.at(expected.length >> 1)?.timeline.latest ?? 0])
			expect([...this.recency.walk(latest)].map(({ id }) => id)).toEqual(
				expected.filter(({ timeline }) => timeline.latest <= latest).map(({ id }) => id),
			);
	}
}

const step = fc.oneof(
	{ weight: 6, arbitrary: fc.record({ type: fc.constant('post' as const), value: fc.nat(400) }) },
	{ weight: 3, arbitrary: fc.record({ type: fc.constant('remove' as const), value: fc.nat(400) }) },
	{ weight: 2, arbitrary: fc.record({ type: fc.constant('arrive' as const), value: fc.nat(200) }) },
	{ weight: 1, arbitrary: fc.record({ type: fc.constant('arrive' as const), value: fc.constant(0) }) },
	{ weight: 1, arbitrary: fc.record({ type: fc.constant('evict' as const), value: fc.nat(400) }) },
	{ weight: 2, arbitrary: fc.record({ type: fc.constant('check' as const), value: fc.constant(0) }) },
);

test('a walk meets every conversation once, newest first', () => {
	fc.assert(
		fc.property(fc.nat(300), fc.array(step, { maxLength: 120 }), (already, steps) => {
			const model = new Model();
			for (let index = 0; index < already; index += 1) model.arrive(index % 150);
			model.check();
			for (const { type, value } of steps) model[type](value);
			model.check();
		}),
	);
});

for (const [what, latest] of [
	['nothing was said before', 0],
	['something was said before', 50],
] as const)
	for (const looked of [true, false])
		test(`a deleted newest message puts back where ${what}${looked ? '' : ', not looked at since it came'}`, () => {
			const model = new Model();
			for (let index = 0; index < 300; index += 1) model.arrive(index % 150);
			model.check();
			model.arrive(latest);
			if (looked) model.check();
			const newest = 300;
			model.post(newest);
			model.post(7);
			model.remove(newest);
			model.check();
		});
