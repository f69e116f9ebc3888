import { afterAll, beforeAll, expect, test } from 'bun:test';
import { ErrorCode, WebClientEvent } from '@slack/web-api';
import { makeWorkspace, type Person } from '../support/people.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { webClient } from '../support/slack.ts';

/** A server with low limits, and Slack's official WebClient, which waits when asked to. */

const PER_SECOND = 2;
const BURST = PER_SECOND * 5;

let server: TestServer;
let people: readonly Person[];

beforeAll(async () => {
	server = await startServer({ 'requests-per-second': String(PER_SECOND) });
	({ people } = await makeWorkspace(server.url, 3));
});
afterAll(() => server.stop());

test('a limited client waits for Retry-After and succeeds', async () => {
	const client = webClient(server.url, people[0]!);
	const waits: number[] = [];
	client.on(WebClientEvent.RATE_LIMITED, (seconds: number) => waits.push(seconds));
	const calls = BURST + 2;
	const answers = await Promise.all(Array.from({ length: calls }, () => client.auth.test()));
	expect(answers.every(({ ok }) => ok)).toBe(true);
	expect(waits.length).toBeGreaterThan(0);
	expect(waits.every((seconds) => Number.isInteger(seconds) && seconds >= 1)).toBe(true);
});

test('a client that does not want to wait gets an error that says how long to wait', async () => {
	const client = webClient(server.url, people[1]!, { rejectRateLimitedCalls: true });
	const outcomes = await Promise.allSettled(Array.from({ length: BURST * 2 }, () => client.auth.test()));
	const rejected = outcomes.filter((outcome) => outcome.status === 'rejected').map(({ reason }) => reason);
	expect(rejected.length).toBeGreaterThan(0);
	for (const reason of rejected) {
		expect(reason.code).toBe(ErrorCode.RateLimitedError);
		expect(reason.retryAfter).toBeGreaterThanOrEqual(1);
	}
	expect((await people[2]!.call('auth.test')).ok).toBe(true);
});
