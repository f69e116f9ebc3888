import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import type { CommandLog, LoggedCommand } from '../../../src/engine/ports/log.ts';
import { fromTheBeginning, numbers, record, until } from './records.ts';

/** What every log guarantees, tested through its port alone. */

export interface LogUnderTest {
	readonly commands: CommandLog;
	close(): Promise<void>;
}

export function logContract(engine: string, open: () => Promise<LogUnderTest>): void {
	describe(`log: ${engine}`, () => {
		let log: LogUnderTest;
		const opened: LogUnderTest[] = [];
		beforeEach(async () => {
			log = await open();
			opened.push(log);
		});
		afterAll(async () => void (await Promise.all(opened.map((each) => each.close()))));

		const requests = (seen: readonly LoggedCommand[]): number[] => seen.map(({ replyTo }) => replyTo.request);

		test('a command is consumed as it was appended', async () => {
			const seen: LoggedCommand[] = [];
			log.commands.consume(async (batch) => void seen.push(...batch), fromTheBeginning);
			await log.commands.append(record('C01', 7));
			await until(() => seen.length === 1, 'the command');
			expect(seen[0]).toMatchObject(record('C01', 7));
		});

		test('commands of one conversation keep their order, and each is consumed once', async () => {
			const seen: LoggedCommand[] = [];
			log.commands.consume(async (batch) => void seen.push(...batch), fromTheBeginning);
			await Promise.all(numbers(2000).map((n) => log.commands.append(record(`C${n % 10}`, n))));
			await until(() => seen.length >= 2000, 'all commands');
			await Bun.sleep(300);
			for (const n of numbers(10)) {
				const of = seen.filter(({ command }) => command.conversation === `C${n}`);
				expect(requests(of)).toEqual(numbers(200).map((each) => each * 10 + n));
			}
			expect(seen.length).toBe(2000);
		});

		test('commands that were appended before the consumer started are consumed', async () => {
			for (const n of numbers(20)) await log.commands.append(record('C01', n));
			const seen: LoggedCommand[] = [];
			log.commands.consume(async (batch) => void seen.push(...batch), fromTheBeginning);
			await until(() => seen.length === 20, 'all commands');
			expect(requests(seen)).toEqual(numbers(20));
		});

		test('a partition runs one batch at a time; commands appended meanwhile form the next batch', async () => {
			const batches: number[] = [];
			const running = new Map<string, number>();
			let most = 0;
			let mixed = false;
			log.commands.consume(async (batch) => {
				const partition = batch[0]!.partition;
				mixed ||= batch.some((each) => each.partition !== partition);
				running.set(partition, (running.get(partition) ?? 0) + 1);
				most = Math.max(most, running.get(partition)!);
				await Bun.sleep(100);
				running.set(partition, running.get(partition)! - 1);
				batches.push(batch.length);
			}, fromTheBeginning);
			await log.commands.append(record('C01', 0));
			for (const n of numbers(100, 1)) log.commands.append(record('C01', n));
			await until(() => batches.reduce((sum, each) => sum + each, 0) === 101, 'all commands');
			expect({ most, mixed }).toEqual({ most: 1, mixed: false });
			expect(batches.length).toBeLessThan(20);
		});

		test('offsets rise within a partition', async () => {
			const seen: LoggedCommand[] = [];
			log.commands.consume(async (batch) => void seen.push(...batch), fromTheBeginning);
			await Promise.all(numbers(500).map((n) => log.commands.append(record(`C${n % 10}`, n))));
			await until(() => seen.length === 500, 'all commands');
			const newest = new Map<string, number>();
			for (const { partition, offset } of seen) {
				expect(offset).toBeGreaterThan(newest.get(partition) ?? -1);
				newest.set(partition, offset);
			}
			// A conversation stays in its partition.
			expect(new Set(seen.map((each) => `${each.command.conversation} ${each.partition}`)).size).toBe(10);
		});
	});
}
