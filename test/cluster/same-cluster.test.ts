import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Events, type Performed, performOn, type Transcript } from '../support/chaos/transcript.ts';
import type { TestCluster } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { startEmbedded, type TestServer } from '../support/server.ts';
import { sharedCluster } from '../support/shared-cluster.ts';

/** One history on both engines gives the same counts, the same order of messages and the same events. */

const SEEDS = [21, 22];
const OPERATIONS = 200;
const EVENTS_WITHIN_MS = 60_000;

let embedded: TestServer;
let cluster: TestCluster;
beforeAll(async () => {
	[embedded, cluster] = await Promise.all([startEmbedded({}), sharedCluster()]);
}, 300_000);
afterAll(() => embedded?.stop(), 60_000);

/**
 * The items of `wanted` that `actual` lacks or has in another order; `actual` may have more items in between.
 */
function missingFrom(actual: Events, wanted: Events): string[] {
	return Object.entries(wanted).flatMap(([key, all]) => {
		const left = [...(actual[key] ?? [])];
		return all.filter((one) => {
			const index = left.indexOf(one);
			left.splice(0, index + 1);
			return index < 0;
		});
	});
}

const sizeOf = ({ events }: Transcript): number => Object.values(events).flat().length;

for (const seed of SEEDS) {
	test(`history ${seed}: after ${OPERATIONS} operations the cluster and the embedded engine have the same state`, async () => {
		const performed = [
			await performOn(embedded.url, seed, OPERATIONS),
			await performOn(cluster.url, seed, OPERATIONS),
		] as [Performed, Performed];
		const expected = await eventually(async () => {
			const [one, other] = [await performed[0].transcript(), await performed[1].transcript()];
			const { marks, ...rest } = one;
			expect({ ...other, marks: null }).toEqual({ ...rest, marks: null });
			expect(missingFrom(other.marks, marks)).toEqual([]);
			return one;
		}, EVENTS_WITHIN_MS);
		expect(sizeOf(expected)).toBeGreaterThan(OPERATIONS);
		for (const { end } of performed) end();
	});
}
