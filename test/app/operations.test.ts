import { expect, test } from 'bun:test';
import pino from 'pino';
import { ServerOperations } from '../../src/app/operations.ts';

/** A degraded dependency: one log line at its start and one at its end; meanwhile it is in /readyz and in a metric. */

function watched() {
	const lines: string[] = [];
	const log = pino({ base: null }, { write: (line: string) => void lines.push(JSON.parse(line).msg) });
	const operations = new ServerOperations(log, 'worker');
	const degraded = async (): Promise<string[]> =>
		((await operations.ready().json()) as { degraded: string[] }).degraded;
	const metric = async (dependency: string): Promise<string | undefined> =>
		new RegExp(`^tidemark_degraded\\{dependency="${dependency}"\\} (\\d)$`, 'm').exec(
			await (await operations.metrics()).text(),
		)?.[1];
	return { operations, lines, degraded, metric };
}

test('an outage causes two log lines, however often it is noticed; /readyz shows the latest cause', async () => {
	const { operations, lines, degraded, metric } = watched();
	for (const cause of ['refused', 'refused', 'emptied']) operations.degraded('read state', new Error(cause));
	expect(await degraded()).toEqual([expect.stringMatching(/^read state, since \S+Z: emptied$/)]);
	expect(await metric('read state')).toBe('1');
	for (let times = 0; times < 3; times += 1) operations.recovered('read state');
	expect(await degraded()).toEqual([]);
	expect(await metric('read state')).toBe('0');
	expect(lines).toEqual([
		'read state is unavailable: refused',
		expect.stringMatching(/^read state is available again after \d+ ms$/),
	]);
});

test('partitions stall one by one, and count as one dependency', async () => {
	const { operations, lines, degraded, metric } = watched();
	operations.onStalled('t-users/1', new Error('a gap'));
	operations.onStalled('t-users/2', new Error('another release'));
	operations.onStalled('t-users/2', new Error('another release'));
	expect(await degraded()).toEqual([
		expect.stringMatching(/^partition t-users\/1, since \S+Z: a gap$/),
		expect.stringMatching(/^partition t-users\/2, since \S+Z: another release$/),
	]);
	operations.onResumed('t-users/1');
	expect(await metric('log')).toBe('1');
	operations.onResumed('t-users/2');
	operations.onResumed('t-users/2');
	expect(await metric('log')).toBe('0');
	expect(await degraded()).toEqual([]);
	expect(lines).toEqual([
		'partition t-users/1 is stalled: a gap',
		'partition t-users/2 is stalled: another release',
		expect.stringMatching(/^partition t-users\/1 resumed or was reassigned after \d+ ms$/),
		expect.stringMatching(/^partition t-users\/2 resumed or was reassigned after \d+ ms$/),
	]);
});
