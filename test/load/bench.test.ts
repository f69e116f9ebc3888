import { describe, expect, test } from 'bun:test';
import { readLoad } from '../../src/app/bench-options.ts';
import { expectedUnread, judge, NO_MARKS } from '../../src/load/expected.ts';
import { Latencies } from '../../src/load/latencies.ts';
import { notesOn } from '../../src/load/notes.ts';
import { OrderCheck } from '../../src/load/order-check.ts';
import { keepPace } from '../../src/load/pacing.ts';
import { Participant } from '../../src/load/participant.ts';
import { type Load, numberIn, Plan, paddedText } from '../../src/load/plan.ts';
import { ProgressLine } from '../../src/load/progress.ts';
import { ms, reportOf } from '../../src/load/report.ts';
import { type Figures, figuresOf } from '../../src/load/result.ts';
import { Tally } from '../../src/load/tally.ts';

/** The decisions of `tidemark bench`, without a server: who posts when, what is measured, what the report says. */

const loadOf = (changes: Partial<Load> = {}): Load => ({ ...readLoad({}), ...changes });

describe('flags', () => {
	test('flags have defaults, and a run takes about 20 s', () => {
		const { warmUp, seconds, marks } = readLoad({});
		expect(warmUp + seconds).toBeLessThan(20);
		expect(marks).toBe(0);
		expect(readLoad({ 'text-bytes': '500', 'warm-up': '0' })).toMatchObject({ textBytes: 500, warmUp: 0 });
	});

	test('all wrong flags are reported together, with their bounds', () => {
		const wrong = () => readLoad({ rate: 'fast', online: '0', seconds: '5' });
		expect(wrong).toThrow(/--rate "fast" is not a whole number from 1 to 100000/);
		expect(wrong).toThrow(/--online "0" is not a whole number from 1 to 25000/);
		expect(() => readLoad({ rate: '100000', seconds: '3600' })).toThrow(/more than 10000000 posts/);
	});
});

describe('plan', () => {
	const shapes: [string, Partial<Load>][] = [
		['more people online than a conversation has members', { conversations: 7, members: 3, online: 10 }],
		['more members than people online', { conversations: 3, members: 12, online: 5 }],
		['as many', { conversations: 2, members: 4, online: 4 }],
	];
	for (const [what, shape] of shapes) {
		test(`${what}: authors are online members, and a message has the same number of listeners everywhere`, () => {
			const plan = new Plan(loadOf({ ...shape, rate: 10, warmUp: 0, seconds: 30 }));
			const { conversations, online, members } = plan.load;
			for (let number = 0; number < plan.posts; number += 1) {
				const { conversation, author } = plan.post(number);
				expect(plan.members(conversation)).toContain(author);
				expect(author).toBeLessThan(online);
			}
			for (let conversation = 0; conversation < conversations; conversation += 1) {
				const those = plan.members(conversation);
				expect(new Set(those).size).toBe(members);
				expect(those.filter((person) => person < online)).toHaveLength(plan.listeners);
				for (let person = 0; person < plan.people; person += 1)
					expect(plan.conversationsOf(person).includes(conversation)).toBe(those.includes(person));
			}
		});
	}

	test('posts are evenly spaced, the first is due at once, and none is due after the end', () => {
		const plan = new Plan(loadOf({ rate: 4, warmUp: 1, seconds: 2 }));
		expect([0, 249, 250, 1_000, 2_999, 99_000].map((at) => plan.postsBy(at))).toEqual([1, 1, 2, 5, 12, 12]);
		expect([0, 1, 4].map((number) => plan.postDueMs(number))).toEqual([0, 250, 1_000]);
		expect([3, 4].map((number) => plan.isMeasured(plan.postDueMs(number)))).toEqual([false, true]);
		expect(plan.marksBy(99_000)).toBe(0);
	});

	test('a text contains its number, and has the requested length', () => {
		for (const number of [0, 7, 9_999_999]) {
			expect(numberIn(paddedText(number, 16))).toBe(number);
			expect(paddedText(number, 100)).toHaveLength(100);
		}
	});

	test('the sampled users are spread over all users', () => {
		expect(new Plan(loadOf({ members: 1_000, online: 10 })).sample(4)).toEqual([0, 250, 500, 750]);
		expect(new Plan(loadOf({ members: 2, online: 2 })).sample(4)).toEqual([0, 1]);
	});
});

describe('latencies', () => {
	test('latencies are precise to half a percent from microseconds to minutes, and the largest is exact', () => {
		for (const unit of [0.01, 1, 1_000]) {
			const latencies = new Latencies();
			for (let value = 1; value <= 1_000; value += 1) latencies.add(value * unit);
			for (const share of [0.5, 0.95, 0.99]) {
				const exact = share * 1_000 * unit;
				expect(latencies.quantile(share)).toBeWithin(exact * 0.999, exact * 1.0051);
			}
			expect(latencies.quantile(1)).toBe(1_000 * unit);
		}
	});

	test('no measurement gives no figure, not 0', () => {
		const latencies = new Latencies();
		expect(latencies.summary()).toBeNull();
		latencies.add(3);
		expect(latencies.summary()).toEqual({ p50: 3, p95: 3, p99: 3, max: 3 });
		latencies.clear();
		expect(latencies.summary()).toBeNull();
	});
});

describe('following', () => {
	const ts = (number: number): string => `1700000000.${String(number).padStart(6, '0')}`;
	const none = '0000000000.000000';

	test('an unbroken chain of events is distinguished from gaps and repeats', () => {
		const following = new OrderCheck();
		expect(following.receive('C1', none, ts(1))).toBe('next');
		expect(following.receive('C2', none, ts(2))).toBe('next');
		expect(following.receive('C1', ts(1), ts(3))).toBe('next');
		expect(following.receive('C1', ts(1), ts(3))).toBe('repeated');
		expect(following.receive('C1', ts(4), ts(5))).toBe('gap');
		expect(following.receive('C3', ts(1), ts(6))).toBe('gap');
		expect([
			following.lacks('C1', ts(5)),
			following.lacks('C2', ts(4)),
			following.lacks('C4', ts(1)),
		]).toEqual([false, true, true]);
	});

	test('a client that had to reload misses none of the earlier messages', () => {
		const following = new OrderCheck();
		following.receive('C1', none, ts(1));
		following.restart();
		expect(following.lacks('C1', ts(8))).toBeFalse();
		expect(following.receive('C1', ts(8), ts(9))).toBe('next');
		expect(following.receive('C1', ts(8), ts(10))).toBe('gap');
	});
});

describe('counts', () => {
	const sent = [
		{ author: 0, ts: '1' },
		{ author: 1, ts: '2' },
		{ author: 0, ts: '3' },
		{ author: 2, ts: '4' },
	];

	test('count the messages of other users after the mark', () => {
		expect(expectedUnread(sent, 0, NO_MARKS)).toEqual({ min: 2, max: 2 });
		expect(expectedUnread(sent, 1, { acknowledged: '2', tried: '2' })).toEqual({ min: 2, max: 2 });
		expect(expectedUnread(sent, 3, { acknowledged: '4', tried: '4' })).toEqual({ min: 0, max: 0 });
	});

	test('an unanswered post or mark leaves the counts uncertain, within bounds', () => {
		const open = [...sent, { author: 1, ts: undefined }];
		const expected = expectedUnread(open, 0, { acknowledged: '1', tried: '2' });
		expect(expected).toEqual({ min: 1, max: 3 });
		expect([0, 1, 3, 4, undefined].map((count) => judge(count, expected))).toEqual([
			'wrong',
			'unclear',
			'unclear',
			'wrong',
			'wrong',
		]);
		expect(judge(2, { min: 2, max: 2 })).toBe('exact');
	});

	test('stop at 10,000', () => {
		const many = Array.from({ length: 10_500 }, () => ({ author: 1, ts: '5' }));
		expect(expectedUnread(many, 0, NO_MARKS)).toEqual({ min: 10_000, max: 10_000 });
	});
});

const counts = { people: 2, rows: 4, exact: 4, unclear: 0, wrong: 0, examples: [] };

function played(): { plan: Plan; tally: Tally; at: (ms: number) => void; figures: () => Figures } {
	const plan = new Plan(
		loadOf({ conversations: 1, members: 2, online: 2, rate: 2, warmUp: 1, seconds: 2, marks: 1 }),
	);
	let now = 0;
	const tally = new Tally(plan, () => now);
	const figures = () =>
		figuresOf({
			url: 'http://localhost:1',
			workspace: { id: 'T1', name: 'tidemark bench' },
			plan,
			tally,
			missingAtEnd: 0,
			counts,
			cpuCores: 0.1,
		});
	return {
		plan,
		tally,
		at: (ms) => {
			now = ms;
		},
		figures,
	};
}

describe('tally', () => {
	test('latencies are measured from when a post was due, however late it was sent', () => {
		const { tally, at, figures } = played();
		// The third post is due after a second, and the generator or the server delayed everything for another second.
		at(2_000);
		tally.posted(2, true);
		at(2_005);
		tally.answered(tally.postId(2), '3', undefined);
		at(2_010);
		tally.received(paddedText(2, 20), '3', 'next');
		const { posts, deliveries, generator } = figures();
		expect([posts.ms?.max, deliveries.ms?.max, generator.late_ms?.max]).toEqual([1_005, 1_010, 1_000]);
	});

	test('no figure includes the warm-up, and no rate includes answers after the end', () => {
		const { tally, at, figures } = played();
		tally.posted(0, true);
		tally.posted(5, true);
		at(500);
		tally.answered(tally.postId(0), '1', undefined);
		at(3_100);
		tally.answered(tally.postId(5), '2', undefined);
		const { posts } = figures();
		expect(posts).toEqual({
			due: 2,
			sent: 2,
			acknowledged: 2,
			unanswered: 0,
			per_second: 0,
			ms: { p50: 600, p95: 600, p99: 600, max: 600 },
		});
	});

	test('a run is settled when every post is answered and every message is delivered', () => {
		const { tally } = played();
		tally.posted(0, true);
		tally.posted(1, true);
		tally.sentMarks += 1;
		tally.answered(tally.postId(0), '1', undefined);
		tally.answered(tally.postId(1), '', 'service_unavailable');
		tally.received(paddedText(0, 20), '1', 'next');
		tally.received(paddedText(0, 20), '1', 'next');
		expect(tally.isSettled).toBeFalse();
		tally.answered(tally.markId(0), '', undefined);
		expect(tally.isSettled).toBeTrue();
		expect(tally.sent()).toEqual([
			[
				{ author: 0, ts: '1' },
				{ author: 1, ts: undefined },
			],
		]);
		// A rejected post that is delivered anyway was made, and one client has not received it yet.
		tally.received(paddedText(1, 20), '2', 'next');
		expect(tally.isSettled).toBeFalse();
		expect(tally.sent()[0]?.[1]).toEqual({ author: 1, ts: '2' });
	});

	test('a post whose outcome the server could not confirm may be a message', () => {
		for (const problem of ['outcome_unknown', 'internal_error']) {
			const { tally } = played();
			tally.posted(0, true);
			tally.answered(tally.postId(0), '', problem);
			expect(tally.sent()).toEqual([[{ author: 0, ts: undefined }]]);
		}
	});

	test('a permanently rejected post is not a message, and is counted by its error', () => {
		const { tally, figures } = played();
		tally.posted(0, true);
		tally.posted(1, false);
		tally.answered(tally.postId(0), '', 'ratelimited');
		expect(tally.sent()).toEqual([[]]);
		expect(figures()).toMatchObject({
			ok: false,
			posts: { due: 2, sent: 1 },
			errors: { ratelimited: 1, 'not sent: no socket': 1 },
		});
	});
});

describe('report', () => {
	const sound = (): Figures => {
		const { tally, at, figures } = played();
		for (const number of [2, 3, 4, 5]) {
			at(number * 500);
			tally.posted(number, true);
			at(number * 500 + 4);
			tally.answered(tally.postId(number), String(number), undefined);
			for (let client = 0; client < 2; client += 1)
				tally.received(paddedText(number, 20), String(number), 'next');
		}
		return figures();
	};

	test('a healthy run has every figure and no advice', () => {
		const figures = sound();
		expect(figures).toMatchObject({
			ok: true,
			posts: { per_second: 2 },
			deliveries: { per_second: 4, gaps: 0 },
		});
		expect(notesOn(figures)).toEqual([]);
		const report = reportOf({ ...figures, notes: [] });
		expect(report).toMatch(/post to acknowledged +4\.00 ms +4\.00 ms +4\.00 ms +4\.00 ms/);
		expect(report).toMatch(/deliveries +4\.0 per second; 8 in total, 0 gaps, 0 repeated/);
		expect(report).toMatch(/errors +none/);
		expect(report).toContain('"tidemark bench" (T1) remains');
		expect(report).toMatch(/exact: all 4 rows of client.counts, for 2 users/);
	});

	test('the report names errors, obstacles and slow figures, and says what to do', () => {
		const figures = sound();
		const generator = { late_ms: { p50: 1, p95: 1, p99: 50, max: 60 }, cpu_cores: 0.2 };
		const cases: [Partial<Figures>, RegExp][] = [
			[{ deliveries: { ...figures.deliveries, gaps: 1 } }, /lost or repeated/],
			[{ counts: { ...counts, wrong: 1, examples: ['U1 in C1: 2, expected 3'] } }, /U1 in C1: 2, expected 3/],
			[{ counts: { ...counts, unclear: 3 } }, /3 counts could not be checked/],
			[{ errors: { ratelimited: 5 } }, /--posts-per-second 0 --requests-per-second 0/],
			[{ errors: { 'socket closed: 1006': 5 } }, /were closed/],
			[{ generator: { ...generator, cpu_cores: 1.1 } }, /run several/],
			[{ generator }, /another machine than the server/],
			[{ posts: { ...figures.posts, per_second: 1 } }, /did not keep up/],
			[{ seconds: 0 }, /nothing was measured/],
		];
		for (const [change, expected] of cases)
			expect(notesOn({ ...figures, ...change }).join()).toMatch(expected);
	});

	test('posts that were due while sockets were disconnected are in the totals, and cause no advice to lower the rate', () => {
		const figures = sound();
		const posts = { ...figures.posts, per_second: 1, due: 6 };
		const notes = notesOn({ ...figures, posts });
		expect(notes.join()).toMatch(/^2 posts were due while their authors had no socket/);
		expect(notes.join()).not.toContain('--rate');
		expect(reportOf({ ...figures, posts, notes })).toMatch(/; 4 of 6 in total, 2 not sent$/m);
	});

	test('a figure has as many digits as its precision allows', () => {
		expect([0.5, 12.34, 123.4, 1_234.5, 61_200].map(ms)).toEqual([
			'0.50 ms',
			'12.3 ms',
			'123 ms',
			'1,235 ms',
			'61.2 s',
		]);
	});
});

test('posts that are due are sent, even if the generator wakes up after the end', async () => {
	const plan = new Plan(loadOf({ conversations: 1, members: 1, online: 1, rate: 10, warmUp: 0, seconds: 1 }));
	// Two checks: in the middle of the run, and long after its end.
	const moments = [500, 5_000];
	let now = 0;
	const nowMs = (): number => now;
	const tally = new Tally(plan, nowMs);
	const nobody = new Participant(async () => {
		throw new Error('not called');
	}, tally);
	await keepPace({
		plan,
		tally,
		participants: [nobody],
		channels: ['C1'],
		nowMs: () => {
			now = moments.shift() ?? now;
			return now;
		},
		signal: new AbortController().signal,
	});
	expect(tally.problems.get('not sent: no socket')).toBe(10);
	expect(tally.endMs).toBe(1_000);
});

test('progress is one changing line on a terminal, and one line per second elsewhere', () => {
	for (const isTTY of [true, false]) {
		let written = '';
		let now = 0;
		const progress = new ProgressLine({ isTTY, write: (text) => (written += text) }, () => now);
		progress.say('begins');
		for (; now <= 2_000; now += 500) progress.step(`at ${now}`);
		progress.close();
		const clear = '\r\x1b[2K';
		expect(written).toBe(
			isTTY ? `begins\n${clear}at 1000${clear}at 2000${clear}` : 'begins\nat 1000\nat 2000\n',
		);
	}
});
