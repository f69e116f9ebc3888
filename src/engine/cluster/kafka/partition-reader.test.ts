import { expect, test } from 'bun:test';
import { type DecodedRecord, PartitionReader } from './partition-reader.ts';

const records = (from: number, to: number, bytes = 100): DecodedRecord<string>[] =>
	Array.from({ length: to - from }, (_, index) => ({
		body: `r${from + index}`,
		offset: from + index,
		bytes,
	}));

function reader(handle: (from: number, to: number, offsets: number[]) => Promise<void> | void) {
	const failures: unknown[] = [];
	const made = new PartitionReader<string>(
		{ batchLimit: 10, gatherMs: 0 },
		async (batch, from, to) =>
			handle(
				from,
				to,
				batch.map(({ offset }) => offset),
			),
		(error) => failures.push(error),
		() => undefined,
	);
	return { made, failures };
}

test('a response to a request of an earlier reader is ignored', async () => {
	const spans: string[] = [];
	const { made } = reader((from, to) => void spans.push(`${from}-${to}`));
	made.begin(5);
	made.take(20, records(20, 30), 30);
	expect(made.position).toBe(5);
	made.take(5, records(5, 8), 8);
	await Bun.sleep(1);
	expect(spans).toEqual(['5-8']);
});

test('records before the requested offset are skipped', async () => {
	const seen: number[] = [];
	const { made } = reader((_from, _to, offsets) => void seen.push(...offsets));
	made.begin(5);
	made.take(5, records(0, 8), 8);
	await Bun.sleep(1);
	expect(seen).toEqual([5, 6, 7]);
});

test('spans are contiguous over skipped records', async () => {
	const spans: string[] = [];
	const { made } = reader((from, to) => void spans.push(`${from}-${to}`));
	made.begin(0);
	made.take(0, records(0, 3), 5);
	await Bun.sleep(1);
	made.take(5, records(5, 7), 7);
	await Bun.sleep(1);
	expect(spans).toEqual(['0-3', '3-7']);
});

test('a response in which every record was skipped does not stop the reader', async () => {
	const spans: string[] = [];
	const { made } = reader((from, to) => void spans.push(`${from}-${to}`));
	made.begin(0);
	made.take(0, [], 1);
	await Bun.sleep(1);
	made.take(1, records(1, 3), 3);
	await Bun.sleep(1);
	expect(spans).toEqual(['0-3']);
});

test('after a failed batch nothing more is handled', async () => {
	let handled = 0;
	const { made, failures } = reader(() => {
		handled += 1;
		throw new Error('no');
	});
	made.begin(0);
	made.take(0, records(0, 25), 25);
	await Bun.sleep(1);
	made.take(25, records(25, 30), 30);
	await Bun.sleep(1);
	expect({ handled, failures: failures.length, stopped: made.isStopped }).toEqual({
		handled: 1,
		failures: 1,
		stopped: true,
	});
});

test('fetching ahead is limited in records and in bytes', async () => {
	const { promise, resolve } = Promise.withResolvers<void>();
	const { made } = reader(() => promise);
	made.begin(0);
	// Ten of them are at work.
	made.take(0, records(0, 20), 20);
	expect(made.isFull).toBe(false);
	made.take(20, records(20, 23, 400_000), 23);
	expect(made.isFull).toBe(true);
	resolve();
	await Bun.sleep(1);
	expect(made.isFull).toBe(false);
	made.take(23, records(23, 73), 73);
	expect(made.isFull).toBe(true);
});

test('the reader is idle once all records are handled', async () => {
	const { promise, resolve } = Promise.withResolvers<void>();
	const handled: string[] = [];
	const { made } = reader(async (from, to) => {
		await promise;
		handled.push(`${from}-${to}`);
	});
	await made.idle();
	made.begin(0);
	made.take(0, records(0, 12), 12);
	const idle = made.idle().then(() => handled.push('idle'));
	await Bun.sleep(1);
	expect(handled).toEqual([]);
	resolve();
	await idle;
	expect(handled).toEqual(['0-10', '10-12', 'idle']);
});

test('if a record cannot be handled, everything before it is handled first, then the reader fails', async () => {
	const events: string[] = [];
	const { made, failures } = reader(async (from, to) => {
		await Bun.sleep(1);
		events.push(`${from}-${to}`, `failures: ${failures.length}`);
	});
	made.begin(0);
	made.take(0, records(0, 12), 12);
	const end = new Error('of another release');
	made.takeLast(12, records(12, 15), end);
	expect(made.position).toBe(null);
	while (!made.isStopped) await Bun.sleep(1);
	expect(events).toEqual(['0-10', 'failures: 0', '10-15', 'failures: 0']);
	expect(failures).toEqual([end]);
});
