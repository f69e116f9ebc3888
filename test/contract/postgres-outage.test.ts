import { afterAll, beforeAll, expect, test } from 'bun:test';
import { Rejection } from '../../src/model/errors.ts';
import { eventually } from '../support/eventually.ts';
import { POSTGRES_VARIABLE, postgresPlace } from '../support/postgres.ts';
import { type OwnServices, ownServices } from '../support/services.ts';
import { BEGIN, conversation, created, cursor, message, posted } from '../support/store/facts.ts';

/** PostgreSQL fails under load and returns: committed facts are not lost, and nothing is written twice. */

const OUTAGE_MS = 10_000;
const COMMITTERS = 50;
const channel = conversation('C01');
let services: OwnServices;

beforeAll(async () => {
	services = await ownServices('postgres');
}, 300_000);
afterAll(() => services.down());

for (const how of ['finish', 'crash'] as const) {
	test(`PostgreSQL is stopped for ${OUTAGE_MS / 1000} s (${how}) under load: every acknowledged commit exists once`, async () => {
		const url = services.env[POSTGRES_VARIABLE] as string;
		const place = await postgresPlace({ url });
		const events: string[] = [];
		const ofReads: string[] = [];
		const store = await place.open({
			onTrouble: (failures) => events.push(`trouble ${failures}`),
			onRecovered: () => events.push('recovered'),
			reading: {
				onTrouble: (failures) => ofReads.push(`trouble ${failures}`),
				onRecovered: () => ofReads.push('recovered'),
			},
		});
		await store.ledger.commit([created(channel, ['U01'])]);

		let newest = BEGIN;
		let load = true;
		const acknowledged: number[] = [];
		const committers = Array.from({ length: COMMITTERS }, async () => {
			while (load) {
				newest += 1;
				const ts = newest;
				await store.ledger.commit([posted(channel, message('C01', ts)), cursor('U01', 'C01', ts, ts)]);
				acknowledged.push(ts);
				await Bun.sleep(2);
			}
		});
		let offset = 0;
		const worker = (async () => {
			while (load) {
				await store.commitWithProgress([], { partition: 'conversations/0', from: offset, to: offset + 1 });
				offset += 1;
				await Bun.sleep(5);
			}
		})();

		await eventually(async () => expect(acknowledged.length).toBeGreaterThan(50));
		const before = acknowledged.length;
		await services.stop('postgres', how);
		const duringOutage = acknowledged.length;
		const read = await store.source.head('C01').catch((error) => error);
		expect(read).toBeInstanceOf(Rejection);
		expect(read).toMatchObject({ code: 'service_unavailable' });
		const terms = [{ text: 'word', isPrefix: false, isExcluded: false }];
		const search = {
			team: 'T01',
			user: 'U01',
			memberOnly: true,
			from: null,
			in: null,
			after: 0,
			before: newest,
			has: [],
		};
		const found = await store.search.find({ ...search, terms }).catch((error) => error);
		expect(found).toMatchObject({ code: 'service_unavailable' });
		await Bun.sleep(OUTAGE_MS);
		expect(acknowledged.length - duringOutage).toBeLessThanOrEqual(0);
		await services.start('postgres');
		const deadline = Date.now() + 40_000;
		while (acknowledged.length < duringOutage + before && Date.now() < deadline) await Bun.sleep(100);
		load = false;
		await Promise.all([...committers, worker]);

		// Every acknowledged commit exists once; none was rejected, so these are all.
		const range = {
			after: 0,
			before: Number.POSITIVE_INFINITY,
			limit: 1_000_000,
			nearest: 'oldest',
		} as const;
		const kept = (await store.history.timeline('C01', range)).map(({ ts }) => ts);
		expect(kept).toEqual(acknowledged.sort((a, b) => a - b));
		expect((await store.source.user('U01')).memberships[0]?.cursor).toBe(newest);
		expect(await store.nextOffset('conversations/0')).toBe(offset);
		expect(acknowledged.length).toBeGreaterThan(duringOutage);
		expect(before).toBeGreaterThan(0);
		expect(events).toContain('trouble 3');
		expect(events.at(-1)).toBe('recovered');
		expect(ofReads).toEqual(['trouble 1', 'trouble 2', 'recovered']);
		await store.close();
		await place.remove();
	}, 300_000);
}
