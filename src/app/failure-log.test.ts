import { expect, test } from 'bun:test';
import { Rejection } from '../model/errors.ts';
import { Overtaken, RolledBack } from '../worker/persist-behind.ts';
import { FailureLog } from './failure-log.ts';

/** One line when a cause first occurs, and one when it has ended. */

function logged(everyMs: number) {
	const lines: string[] = [];
	const stacks: unknown[] = [];
	const line = (first: unknown, second?: string): void => {
		lines.push(String(second ?? first));
		if (second) stacks.push((first as { err: unknown }).err);
	};
	const log = new FailureLog({ error: line, info: line } as never, everyMs);
	return { log, lines, stacks };
}

const redis = (why: string): Rejection =>
	new Rejection('service_unavailable', 'Redis does not answer', undefined, new Error(why));

test('a service that is down is one line without a stack, whatever fails because of it', async () => {
	const { log, lines, stacks } = logged(30);
	for (let index = 0; index < 200; index += 1)
		log.failed(
			index % 2 === 0 ? 'rtm.focus' : 'client.counts',
			redis(index < 100 ? 'Connection is closed.' : 'Command timed out'),
		);
	expect(lines).toEqual([
		expect.stringContaining('rtm.focus failed: Redis does not answer: Connection is closed. Clients retry'),
	]);
	while (lines.length < 3) await Bun.sleep(5);
	expect(lines.slice(1)).toEqual([
		expect.stringContaining('199 more failures in 0.03 s (rtm.focus, client.counts): Redis does not answer'),
		expect.stringContaining(
			'failures have stopped: none in the last 0.03 s, 200 before that: Redis does not answer',
		),
	]);
	expect(stacks).toEqual([]);
	// A new outage is a new line.
	log.failed('rtm.focus', redis('Connection is closed.'));
	expect(lines).toHaveLength(4);
});

test('an unexpected failure is logged with its stack, once for each kind', () => {
	const { log, lines, stacks } = logged(60_000);
	for (const id of ['C0123456789', 'C9876543210'])
		log.failed('chat.update', new TypeError(`no row of ${id}`));
	log.failed('chat.update', new TypeError('another one'));
	log.failed('chat.delete', new TypeError('another one'));
	expect(lines).toEqual(Array(3).fill(expect.stringContaining('failed unexpectedly')));
	expect(stacks).toHaveLength(3);
});

test('a partition that another worker took over is one line without a stack', () => {
	const { log, lines, stacks } = logged(60_000);
	for (const number of [1, 2, 3]) log.failed(`persisting effects of t/${number}`, new Overtaken());
	expect(lines).toEqual([expect.stringMatching(/^persisting effects of t\/1 failed: .* Nothing is lost/)]);
	expect(stacks).toEqual([]);
});

test('a rollback of the store is not called harmless', () => {
	const { log, lines, stacks } = logged(60_000);
	log.failed('consuming t/1', new RolledBack(9, 5));
	expect(lines).toEqual([
		expect.stringMatching(
			/is at offset 5, after it had confirmed 9\. PostgreSQL lost confirmed transactions/,
		),
	]);
	expect(stacks).toEqual([]);
});
