import { expect, test } from 'bun:test';
import type { LoggedCommand } from '../engine/ports/log.ts';
import type { History, StateSource } from '../engine/ports/store.ts';
import type { Command } from '../sequencer/commands.ts';
import { Conversations } from './conversations.ts';
import { type CommandGroup, type EffectPipeline, type ExecutedGroup, PUBLISHED } from './effect-pipeline.ts';
import { Partition } from './partition.ts';

/** A partition without an engine: which state it loads, in which order it executes groups, and what it does with failed groups. */

const SPAN = { partition: 't/0', from: 0, to: 1 };
const command = (conversation: string, request: number): LoggedCommand => ({
	command: { conversation, actor: 'U1', team: 'T1', at: 0, action: { type: 'join' } },
	replyTo: { gateway: 'g1', request },
	partition: 't/0',
	offset: request,
});
const groupText = ({ conversation, commands }: CommandGroup): string =>
	`${conversation} ${commands.map(({ replyTo }) => replyTo.request).join()}`;
const turn = (): Promise<void> => Bun.sleep(0);

class TestPipeline implements EffectPipeline {
	readonly done: string[] = [];
	readonly failures: string[] = [];
	executing: (group: CommandGroup) => Promise<ExecutedGroup> = async () => PUBLISHED;
	restarts = false;

	groups(batch: readonly LoggedCommand[]): CommandGroup[] {
		return batch.map((one) => ({ conversation: one.command.conversation, commands: [one] }));
	}

	stamped(command: Command): Command {
		return command;
	}

	load<T>(_: Command, work: () => Promise<T>): Promise<T> {
		return work();
	}

	execute(group: CommandGroup): Promise<ExecutedGroup> {
		this.done.push(groupText(group));
		return this.executing(group);
	}

	failed(group: CommandGroup, error: unknown): ExecutedGroup {
		this.failures.push(groupText(group));
		if (this.restarts) throw error;
		return PUBLISHED;
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
	const pipeline = new TestPipeline();
	const partition = new Partition({
		conversations: new Conversations(source, {} as History, () => 0),
		views: { prepare: async () => () => undefined },
		pipeline,
		onFailed: (error) => failures.push(error),
		nowMs: () => 0,
		report: (error) => failures.push(error),
	});
	return { partition, pipeline, loads, loading, failures };
}

test('groups of one conversation keep their order, and wait for no other conversation', async () => {
	const { partition, pipeline, loading } = scene();
	const cold = Promise.withResolvers<void>();
	loading.set('cold', cold.promise);
	await partition.process([command('cold', 1), command('cold', 2), command('warm', 3)], SPAN);
	await turn();
	await partition.process([command('warm', 4), command('cold', 5)], SPAN);
	await turn();
	expect(pipeline.done).toEqual(['warm 3', 'warm 4']);
	cold.resolve();
	await turn();
	await partition.process([command('cold', 6)], SPAN);
	expect(await partition.finished()).toBe(true);
	expect(pipeline.done.slice(2)).toEqual(['cold 1', 'cold 2', 'cold 5', 'cold 6']);
});

test('state loaded before a reset is loaded again before deciding', async () => {
	const { partition, pipeline, loads, loading } = scene();
	const cold = Promise.withResolvers<void>();
	loading.set('cold', cold.promise);
	await partition.process([command('cold', 1)], SPAN);
	await turn();
	partition.reset();
	cold.resolve();
	await partition.finished();
	expect(loads).toEqual(['cold', 'cold']);
	expect(pipeline.done).toEqual(['cold 1']);
});

test('a conversation is not evicted while one of its groups is executed', async () => {
	const { partition, pipeline, loads } = scene();
	const outage = Promise.withResolvers<void>();
	pipeline.executing = async () => {
		await outage.promise;
		return PUBLISHED;
	};
	await partition.process([command('one', 1)], SPAN);
	await turn();
	expect(pipeline.done).toEqual(['one 1']);
	partition.evict(Number.POSITIVE_INFINITY);
	await partition.process([command('one', 2)], SPAN);
	outage.resolve();
	await partition.finished();
	expect(pipeline.done).toEqual(['one 1', 'one 2']);
	expect(loads).toEqual(['one']);

	partition.evict(Number.POSITIVE_INFINITY);
	await partition.process([command('one', 3)], SPAN);
	await partition.finished();
	expect(loads).toEqual(['one', 'one']);
});

test('a failed group leaves the conversation usable, unless the pipeline restarts the partition', async () => {
	const { partition, pipeline, failures } = scene();
	pipeline.executing = async ({ commands }) => {
		if (commands[0]?.replyTo.request === 1) throw new Error('planted');
		return PUBLISHED;
	};
	await partition.process([command('one', 1), command('one', 2)], SPAN);
	expect(await partition.finished()).toBe(true);
	expect(pipeline).toMatchObject({ done: ['one 1', 'one 2'], failures: ['one 1'] });
	expect(failures).toEqual([]);

	pipeline.restarts = true;
	await partition.process([command('two', 1), command('two', 2), command('three', 3)], SPAN);
	expect(await partition.finished()).toBe(false);
	expect(pipeline.done.slice(2)).toEqual(['two 1', 'three 3']);
	expect(failures.map(String)).toContain('Error: planted');
});
