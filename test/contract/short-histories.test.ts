import { describe, test } from 'bun:test';
import fc from 'fast-check';
import { randomHistory, USER_COUNT } from '../support/oracle/history.ts';
import { Oracle } from '../support/oracle/oracle.ts';
import { runHistory } from '../support/oracle/run.ts';
import { portsDriver } from '../support/ports-driver.ts';
import { embedded } from './engines.ts';

/**
 * Many short histories, compared after every operation. Each operation can be removed without making the rest
 * meaningless, so a failure shrinks to the few operations that cause it.
 */

const USERS = Array.from({ length: USER_COUNT }, (_, index) => `U000USER0${index}`);
const HISTORIES = 25;
const LENGTH = 60;
/** The same histories in every run; another number gives others. */
const SEED = Number(process.env.HISTORY_SEED ?? 20_260);

const histories = fc
	.integer({ min: 1, max: 2 ** 31 - 1 })
	.chain((seed) => fc.subarray([...randomHistory(seed, LENGTH)], { minLength: LENGTH / 2 }));

for (const engine of [embedded]) {
	describe(`${engine.name} engine`, () => {
		test(`${HISTORIES} short histories: every count is as the model defines it after every operation`, async () => {
			const property = fc.asyncProperty(histories, async (operations) => {
				const place = await engine.place();
				const driver = portsDriver(await place.open());
				try {
					await runHistory(driver, new Oracle(), operations, { users: USERS, check: 'every' });
				} finally {
					await driver.close();
					await place.remove();
				}
			});
			await fc.assert(property, { seed: SEED, numRuns: HISTORIES });
		});
	});
}
