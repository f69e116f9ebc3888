import { afterAll, describe, expect, test } from 'bun:test';
import type { GatewayEngine } from '../../src/app/engine.ts';
import { compareAll, emptyTally } from '../support/oracle/compare.ts';
import { randomHistory, USER_COUNT } from '../support/oracle/history.ts';
import { Oracle } from '../support/oracle/oracle.ts';
import { runHistory } from '../support/oracle/run.ts';
import { embedded, type TestedEngine } from './engines.ts';
import { FAULTS } from './faults.ts';

/** The oracle is brute force on purpose, and slow on a busy machine. */
const LONG_MS = 600_000;

/**
 * What every engine guarantees, tested through its ports alone: after any history its counts are the model's, also after
 * it was closed and opened again.
 */

const USERS = Array.from({ length: USER_COUNT }, (_, index) => `U000USER0${index}`);
const cases = new Map<string, number>();
const count = (engine: string) => cases.set(engine, (cases.get(engine) ?? 0) + 1);

/** Runs a history, and compares during it and once more after the engine was closed and opened again. */
async function checkEngine<E extends GatewayEngine>(
	engine: TestedEngine<E>,
	seed: number,
	operations: number,
	every: number,
	wrap: (engine: E) => E = (whole) => whole,
) {
	const place = await engine.place();
	try {
		const oracle = new Oracle();
		const first = engine.drive(wrap(await place.open()));
		const history = randomHistory(seed, operations);
		const report = await runHistory(first, oracle, history, { users: USERS, check: every });
		await first.close();
		const second = engine.drive(wrap(await place.open()));
		const conversations = [...new Set(USERS.flatMap((user) => Object.keys(oracle.rows(user))))];
		const world = { users: USERS, conversations };
		const difference = await compareAll(second, oracle, world, emptyTally());
		await second.close();
		if (difference) throw new Error(`after reopening: ${JSON.stringify(difference)}`);
		return report;
	} finally {
		await place.remove();
	}
}

export interface EngineSuite {
	readonly seeds: readonly number[];
	readonly operations: number;
	/** Compares after this many operations. */
	readonly every: number;
}

export function describeEngineContract<E extends GatewayEngine>(
	engine: TestedEngine<E>,
	{ seeds, operations, every }: EngineSuite,
): void {
	describe(`${engine.name} engine`, () => {
		for (const seed of seeds) {
			test(
				`history ${seed}: ${operations} operations, counts are as the model defines them, also after reopening`,
				async () => {
					count(engine.name);
					const report = await checkEngine(engine, seed, operations, every);
					expect(report.performed.post ?? 0).toBeGreaterThan(operations / 10);
				},
				LONG_MS,
			);
		}
	});
}

/** Tests the suite itself: it must catch a wrong engine. */
export function describeFaults(): void {
	for (const [name, { breaks, shows }] of Object.entries(FAULTS)) {
		test(`the contract catches an engine that ${name}`, async () => {
			const said = await checkEngine(embedded, 21, 1_500, 25, breaks).then(
				() => 'nothing differs',
				(error: Error) => error.message,
			);
			expect(said).toMatch(shows);
		});
	}
}

afterAll(() => {
	for (const [engine, number] of cases) console.log(`contract: ${number} cases on the ${engine} engine`);
});
