/** Tests of the tests: histories are deterministic and reach every operation, and wrong servers are caught. */

import { describe, expect, test } from 'bun:test';
import { firstDifference } from '../support/oracle/compare.ts';
import { randomHistory, USER_COUNT, WEIGHTS } from '../support/oracle/history.ts';
import { Oracle } from '../support/oracle/oracle.ts';
import { type Fault, oracleDriver } from '../support/oracle/oracle-driver.ts';
import { HistoryFailure, runHistory } from '../support/oracle/run.ts';

const users = Array.from({ length: USER_COUNT }, (_, index) => `U${index + 1}`);

describe('random histories', () => {
	test('a seed always gives the same history, and another seed gives another one', () => {
		expect([...randomHistory(7, 50)]).toEqual([...randomHistory(7, 50)]);
		expect([...randomHistory(7, 50)]).not.toEqual([...randomHistory(8, 50)]);
	});

	test('a correct server passes; every operation is performed and every query is compared', async () => {
		const report = await runHistory(oracleDriver(), new Oracle(), randomHistory(1, 800), {
			users,
			check: 40,
		});
		for (const kind of Object.keys(WEIGHTS) as (keyof typeof WEIGHTS)[]) {
			expect({ kind, performed: report.performed[kind] ?? 0 }).not.toEqual({ kind, performed: 0 });
		}
		expect(Object.values(report.compared).filter((count) => count === 0)).toEqual([]);
		expect(report.skipped).toBeLessThan(100);
	});

	test('disabled groups of operations do not occur', async () => {
		const off = { threads: false, mentions: false, presence: false };
		const oracle = new Oracle();
		const report = await runHistory(oracleDriver(), oracle, randomHistory(2, 300, off), {
			users,
			check: 'end',
		});
		for (const kind of [
			'reply',
			'follow',
			'unfollow',
			'markThread',
			'markThreadUnread',
			'setActive',
		] as const) {
			expect(report.performed[kind]).toBeUndefined();
		}
		expect(oracle.messages('C1').filter((message) => /[<`]/.test(message.text))).toEqual([]);
	});

	test('at every step the badge equals its explanation, and every count equals its list', async () => {
		const oracle = new Oracle();
		const driver = oracleDriver();
		const consistent = async () => {
			for (const user of users) {
				expect(oracle.explain(user)).toHaveLength(oracle.badge(user));
				for (const [id, row] of Object.entries(oracle.rows(user))) {
					expect(oracle.unreads(user, id)).toHaveLength(row.unread_count);
					expect(row.mention_count).toBeLessThanOrEqual(row.unread_count);
				}
			}
		};
		await runHistory({ ...driver, settle: consistent }, oracle, randomHistory(3, 400), {
			users,
			check: 'every',
		});
	});
});

describe('a deliberately wrong server is caught', () => {
	const faults: Fault[] = [
		'forgets a mark',
		'marks backwards',
		'ignores revisions',
		'loses an edit',
		'loses a delete',
		'follows twice',
		'keeps mute on rejoin',
		'counts everybody as active',
	];
	for (const fault of faults) {
		test(fault, async () => {
			const run = async () => {
				for (let seed = 1; seed <= 5; seed += 1) {
					await runHistory(oracleDriver(fault), new Oracle(), randomHistory(seed, 500), { users, check: 10 });
				}
			};
			await expect(run()).rejects.toThrow(HistoryFailure);
		});
	}

	test('the failure names seed, step, operation, field and both values', async () => {
		const run = runHistory(oracleDriver('loses a delete'), new Oracle(), randomHistory(1, 300), {
			users,
			check: 'every',
		});
		const failure = await run.then(
			() => undefined,
			(error: unknown) => error,
		);
		expect(String(failure)).toMatch(/seed 1, step \d+: .*oracle .*, server /);
		expect(String(failure)).toContain('"kind":"remove"');
	});
});

describe('firstDifference', () => {
	test('gives the path of the one field that differs', () => {
		const found = firstDifference({ C1: { a: 1, b: [1, 2] } }, { C1: { a: 1, b: [1, 3] } }, 'rows(U1)');
		expect(found).toEqual({ path: 'rows(U1).C1.b[1]', oracle: 2, server: 3 });
	});

	test('an extra item and a missing item are differences', () => {
		expect(firstDifference({}, { C1: { a: 1 } }, 'x')?.path).toBe('x.C1');
		expect(firstDifference([1], [], 'x')?.path).toBe('x[0]');
		expect(firstDifference({ a: {} }, { a: [] }, 'x')?.path).toBe('x.a');
	});
});
