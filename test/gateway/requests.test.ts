import { afterEach, expect, test } from 'bun:test';
import { MemoryBus } from '../../src/engine/embedded/memory-bus.ts';
import { MAX_POSTS_WAITING, Requests, type Timeouts } from '../../src/gateway/requests.ts';
import { risingClock } from '../../src/model/ts.ts';

/** Commands that no worker decides. */

const ACTOR = { user: 'U01', team: 'T01' };
/** A bus that receives publications, unless the test marks it as not subscribed. */
class SilentBus extends MemoryBus {
	isSilent = false;

	override isReceiving(): boolean {
		return !this.isSilent;
	}
}

let reported: string[] = [];
let asked: number[] = [];
let bus: SilentBus;
let requests: Requests;

function begin(timeouts: Timeouts): void {
	reported = [];
	asked = [];
	bus = new SilentBus();
	requests = new Requests(
		{
			append: async ({ replyTo }) => void asked.push(replyTo.request),
			consume: () => ({ restart: () => undefined }),
		},
		bus,
		'G01',
		risingClock(() => Date.now() * 1000),
		{ silent: () => reported.push('silent'), answered: () => reported.push('answered') },
		timeouts,
	);
}
afterEach(() => requests.close());

const submit = () => requests.submit(ACTOR, 'C01', { type: 'archive' });
const answer = (request: number) =>
	bus.publish('gateway:G01', {
		type: 'reply',
		request,
		outcome: { ok: false, error: 'already_archived' },
	});

test('a missing worker is reported once, until the first answer', async () => {
	begin({ timeoutMs: 60_000, silentMs: 50, checkEveryMs: 10 });
	const ended = Promise.allSettled([submit(), submit()]);
	while (reported.length === 0) await Bun.sleep(5);
	await Bun.sleep(50);
	expect(reported).toEqual(['silent']);
	for (const request of asked) answer(request);
	for (const one of await ended) expect(one).toMatchObject({ reason: { code: 'already_archived' } });
	expect(reported).toEqual(['silent', 'answered']);
});

test('unanswered requests time out, and the report ends when none is left', async () => {
	begin({ timeoutMs: 150, silentMs: 50, checkEveryMs: 10 });
	await expect(submit()).rejects.toMatchObject({ code: 'outcome_unknown' });
	expect(reported).toEqual(['silent', 'answered']);
});

test('one lost reply is not reported while others are answered', async () => {
	begin({ timeoutMs: 300, silentMs: 200, checkEveryMs: 10 });
	const lost = submit().catch((error) => error.code);
	let isOver = false;
	lost.finally(() => {
		isOver = true;
	});
	while (!isOver) {
		const asking = submit();
		answer(asked.at(-1) ?? 0);
		await expect(asking).rejects.toMatchObject({ code: 'already_archived' });
		await Bun.sleep(5);
	}
	expect(await lost).toBe('outcome_unknown');
	expect(reported).toEqual([]);
});

test('an answer in time causes no report', async () => {
	begin({ timeoutMs: 60_000, silentMs: 30_000, checkEveryMs: 10 });
	const asking = submit();
	await Bun.sleep(30);
	answer(asked.at(-1) ?? 0);
	await expect(asking).rejects.toMatchObject({ code: 'already_archived' });
	expect(reported).toEqual([]);
});

test('one message may carry the replies to several requests', async () => {
	begin({ timeoutMs: 60_000, silentMs: 30_000, checkEveryMs: 10 });
	const ended = Promise.allSettled([submit(), submit(), submit()]);
	const outcome = { ok: false, error: 'already_archived' } as const;
	const [first, ...others] = asked;
	bus.publish('gateway:G01', {
		type: 'replies',
		replies: others.map((request) => ({ request, outcome })),
	});
	answer(first ?? 0);
	for (const one of await ended) expect(one).toMatchObject({ reason: { code: 'already_archived' } });
});

test('outcomes that may be lost are awaited for a shorter time', async () => {
	begin({ timeoutMs: 60_000, silentMs: 20, checkEveryMs: 10 });
	const [lost, late] = [submit(), submit()];
	await Bun.sleep(1);
	bus.publish('gateway:G01', { type: 'lost' });
	const later = submit();
	answer(asked[1] ?? 0);
	await expect(late).rejects.toMatchObject({ code: 'already_archived' });
	await expect(lost).rejects.toMatchObject({ code: 'outcome_unknown' });
	await Bun.sleep(40);
	answer(asked[2] ?? 0);
	await expect(later).rejects.toMatchObject({ code: 'already_archived' });
});

test('while outcomes cannot be received, nothing is sent, and no worker is reported as missing', async () => {
	begin({ timeoutMs: 200, silentMs: 50, checkEveryMs: 10 });
	const before = submit();
	await Bun.sleep(1);
	bus.isSilent = true;
	await expect(submit()).rejects.toMatchObject({ code: 'service_unavailable' });
	await expect(before).rejects.toMatchObject({
		code: 'outcome_unknown',
		detail: 'the gateway could not receive the outcome; the change may still happen',
	});
	expect(asked).toEqual([1]);
	expect(reported).toEqual([]);
	// Later requests get their outcomes as usual.
	bus.isSilent = false;
	await expect(submit()).rejects.toMatchObject({
		detail: 'no worker answered in time; the change may still happen',
	});
	expect(reported).toEqual(['silent', 'answered']);
});

test('a conversation with too many waiting posts is slowed down alone, until they are decided', async () => {
	begin({ timeoutMs: 60_000, silentMs: 30_000, checkEveryMs: 1_000 });
	const content = { text: 'x', extra: null };
	const action = { type: 'post', content, threadTs: null, broadcast: false, clientMsgId: null } as const;
	const post = (conversation: string) => requests.submit(ACTOR, conversation, action);
	const ended = (asking: Promise<unknown>) => asking.catch((error) => error);
	const hot = Array.from({ length: MAX_POSTS_WAITING }, () => ended(post('C01')));
	const appended = asked.length;
	expect(await ended(post('C01'))).toMatchObject({ code: 'ratelimited', retryAfterSeconds: 1 });
	expect(asked).toHaveLength(appended);
	// Other users can post, and the busy conversation can still be changed in other ways.
	const others = [ended(post('C02')), ended(submit())];
	expect(asked).toHaveLength(appended + 2);
	answer(asked[0] ?? 0);
	await hot[0];
	const next = ended(post('C01'));
	expect(asked).toHaveLength(appended + 3);
	for (const request of asked) answer(request);
	await Promise.all([...hot, ...others, next]);
});
