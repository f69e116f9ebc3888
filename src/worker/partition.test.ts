import { expect, test } from 'bun:test';
import type { LoggedCommand } from '../engine/ports/log.ts';
import type { History, StateSource } from '../engine/ports/store.ts';
import type { Command } from '../sequencer/commands.ts';
import { Conversations } from './conversations.ts';
import { type CarriedOut, type CommandGroup, DELIVERED, type Order } from './order.ts';
import { Partition } from './partition.ts';

/** The partition without an engine: what is loaded, in which order groups are carried out, and what happens to those that fail. */

const SPAN = { partition: 't/0', from: 0, to: 1 };
const entry = (conversation: string, request: number): LoggedCommand => ({
	command: { conversation, actor: 'U1', team: 'T1', at: 0, action: { type: 'join' } },
	replyTo: { gateway: 'g1', request },
	partition: 't/0',
	offset: request,
});
const describeRow = ({ conversation, entries }: CommandGroup): string =>
	`${conversation} ${entries.map(({ replyTo }) => replyTo.request).join()}`;
const turn = (): Promise<void> => Bun.sleep(0);

class TestOrder implements Order {
	readonly done: string[] = [];
	readonly failures: string[] = [];
	carrying: (group: CommandGroup) => Promise<CarriedOut> = async () => DELIVERED;
	restarts = false;

	groups(batch: readonly LoggedCommand[]): CommandGroup[] {
		return batch.map((one) => ({ conversation: one.command.conversation, entries: [one] }));
	}

	stamped(command: Command): Command {
		return command;
	}

	load<T>(_: Command, work: () => Promise<T>): Promise<T> {
		return work();
	}

	carryOut(group: CommandGroup): Promise<CarriedOut> {
		this.done.push(describeRow(group));
		return this.carrying(group);
	}

	failed(group: CommandGroup, error: unknown): CarriedOut {
		this.failures.push(describeRow(group));
		if (this.restarts) throw error;
		return DELIVERED;
	}

	async readyForNext(): Promise<void> {}

	durable(): number {
		return Number.POSITIVE_INFINITY;
	}
}

function scene() {
	const loads: string[] = [];
	const loading = new Map<string, Promise<void>>();
	const failures: unknown[] = [];
	const source = {
		head: async (conversation: string) => {
			loads.push(conversation);
			await loading.get(conversation);
			return null;
		},
	} as unknown as StateSource;
	const order = new TestOrder();
	const partition = new Partition({
		conversations: new Conversations(source, {} as History, () => 0),
		readState: { prepare: async () => () => undefined },
		order,
		onFailed: (error) => failures.push(error),
		nowMs: () => 0,
		report: (error) => failures.push(error),
	});
	return { partition, order, loads, loading, failures };
}

test('groups of one conversation keep their order, and wait for no other conversation', async () => {
	const { partition, order, loading } = scene();
	const cold = Promise.withResolvers<void>();
	loading.set('cold', cold.promise);
	await partition.process([entry('cold', 1), entry('cold', 2), entry('warm', 3)], SPAN);
	await turn();
	await partition.process([entry('warm', 4), entry('cold', 5)], SPAN);
	await turn();
	expect(order.done).toEqual(['warm 3', 'warm 4']);
	cold.resolve();
	await turn();
	await partition.process([entry('cold', 6)], SPAN);
	expect(await partition.finished()).toBe(true);
	expect(order.done.slice(2)).toEqual(['cold 1', 'cold 2', 'cold 5', 'cold 6']);
});

test('state loaded before a reset is loaded again before deciding', async () => {
	const { partition, order, loads, loading } = scene();
	const cold = Promise.withResolvers<void>();
	loading.set('cold', cold.promise);
	await partition.process([entry('cold', 1)], SPAN);
	await turn();
	partition.reset();
	cold.resolve();
	await partition.finished();
	expect(loads).toEqual(['cold', 'cold']);
	expect(order.done).toEqual(['cold 1']);
});

test('a failed group leaves the conversation usable, unless the order restarts the partition', async () => {
	const { partition, order, failures } = scene();
	order.carrying = async ({ entries }) => {
		if (entries[0]?.replyTo.request === 1) throw new Error('planted');
		return DELIVERED;
	};
	await partition.process([entry('one', 1), entry('one', 2)], SPAN);
	expect(await partition.finished()).toBe(true);
	expect(order).toMatchObject({ done: ['one 1', 'one 2'], failures: ['one 1'] });
	expect(failures).toEqual([]);

	order.restarts = true;
	await partition.process([entry('two', 1), entry('two', 2), entry('three', 3)], SPAN);
	expect(await partition.finished()).toBe(false);
	expect(order.done.slice(2)).toEqual(['two 1', 'three 3']);
	expect(failures.map(String)).toContain('Error: planted');
});
