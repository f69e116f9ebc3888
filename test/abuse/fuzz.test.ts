import { afterAll, beforeAll, expect, test } from 'bun:test';
import { METHODS } from '../../src/gateway/http/methods/index.ts';
import { type Cast, makeCast } from '../support/abuse/cast.ts';
import { fuzzHttp } from '../support/abuse/http-fuzz.ts';
import { fuzzFrames, fuzzRawFrames } from '../support/abuse/socket-fuzz.ts';
import { eventually } from '../support/eventually.ts';
import { Random } from '../support/oracle/random.ts';
import { isOnCluster, patienceMs, startServer, type TestServer } from '../support/server.ts';

/** The short form of `npm run fuzz`: no internal error, no leak to another workspace, no change there. */

const SEED = Number(process.env.TIDEMARK_TEST_SEED ?? 4711);
const TIMEOUT_MS = 120_000;

let server: TestServer;
let cast: Cast;
let before: unknown;

beforeAll(async () => {
	server = await startServer();
	cast = await makeCast(server.url);
	// On a cluster, counts follow the last answer a moment later.
	await eventually(async () => {
		const seen = await cast.seen();
		if (isOnCluster()) await Bun.sleep(500);
		before = await cast.seen();
		expect(before).toEqual(seen);
	}, patienceMs());
}, TIMEOUT_MS);
afterAll(() => server.stop());

test(
	`every method with random arguments and foreign ids (seed ${SEED})`,
	async () => {
		const requests = Object.keys(METHODS).length * 20;
		const { errors } = await fuzzHttp(server.url, cast, new Random(SEED), requests);
		await eventually(async () => expect(await cast.seen()).toEqual(before), patienceMs());
		// The fuzzer got past the first checks: calls succeeded, ids were looked up, arguments were read.
		for (const error of ['ok', 'channel_not_found', 'invalid_arguments', 'invalid_json'])
			expect({ error, times: errors.get(error) ?? 0 }).not.toEqual({ error, times: 0 });
	},
	TIMEOUT_MS,
);

test(
	`frames with random fields and foreign ids, and bytes that are not frames (seed ${SEED})`,
	async () => {
		const random = new Random(SEED);
		expect(await fuzzFrames(server.url, cast, random, 500)).toBeGreaterThan(100);
		await fuzzRawFrames(server.url, cast, random, 5);
		await eventually(async () => expect(await cast.seen()).toEqual(before), patienceMs());
	},
	TIMEOUT_MS,
);
