import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import type { Conversation, Message, User } from '../../client/src/index.ts';
import { checkChannelName } from '../../src/model/channel-name.ts';
import { candidatesFor, complete, type Known, writtenName } from '../../web/src/composer/completion.ts';
import { lengthWarning, MAX_CHARACTERS } from '../../web/src/composer/length.ts';
import { fromWire, toWire } from '../../web/src/composer/wire-text.ts';
import {
	countNewBelow,
	dividerAfterChange,
	dividerAfterMarkRead,
	dividerOnOpen,
	isMarkedUnread,
	isNewAbove,
} from '../../web/src/conversation/divider.ts';
import { isReadable } from '../../web/src/conversation/readable.ts';
import { timelineRows } from '../../web/src/conversation/rows.ts';
import { channelNameFrom, nameProblem } from '../../web/src/dialogs/channel-name.ts';
import { findByName, findPeople } from '../../web/src/dialogs/finding.ts';
import { unreadFrom } from '../../web/src/message/mark-unread.ts';
import { parseText } from '../../web/src/message/parse-text.ts';
import { isLong } from '../../web/src/message/plain-text.ts';
import { textBlocks } from '../../web/src/message/text-blocks.ts';
import { CHARTS, exportedBy } from '../../web/src/ops/charts.ts';
import { answered, chosenProcess, type Process, problemsOf, titleOf } from '../../web/src/ops/processes.ts';
import { bucketsOf, parseMetrics, quantileBetween, sumOf } from '../../web/src/ops/prometheus.ts';
import { degradedFrom } from '../../web/src/ops/readiness.ts';
import { nextUnread, sidebarRows } from '../../web/src/sidebar/sections.ts';
import {
	THREAD_OPENED,
	type ThreadSight,
	threadDividerAfterChange,
} from '../../web/src/thread/thread-divider.ts';
import { initialsOf, shortCount } from '../../web/src/ui/format.ts';

/** The decisions of the interface, without a browser. */

const user = (id: string, name: string, realName = ''): [string, User] => [
	id,
	{ id, name, realName, isBot: false, isDeleted: false, photo: null },
];
const users = new Map([user('U1', 'ada', 'Ada Lovelace'), user('U2', 'grace.h', 'Grace Hopper')]);

const conversation = (id: string, fields: Partial<Conversation> = {}): Conversation =>
	({
		id,
		kind: 'public',
		name: id,
		user: null,
		hasUnreads: (fields.unreadCount ?? 0) > 0,
		unreadCount: 0,
		badgeCount: 0,
		isMuted: false,
		lastRead: '1.000000',
		latest: '1.000000',
		revision: 0,
		...fields,
	}) as Conversation;

const message = (ts: string, author: string, fields: Partial<Message> = {}): Message =>
	({
		ts,
		user: author,
		text: '',
		clientMsgId: null,
		replyCount: 0,
		isTombstone: false,
		isBroadcast: false,
		...fields,
	}) as Message;

describe('text', () => {
	test.each([
		['@ada and @channel', '<@U1> and <!channel>'],
		['(@grace.h) asks', '(<@U2>) asks'],
		['mail ada@ada.example, @nobody', 'mail ada@ada.example, @nobody'],
		['1 < 2 & `@ada`', '1 &lt; 2 &amp; `@ada`'],
		['<https://example.com/a|a page>', '<https://example.com/a|a page>'],
		['<https://a <https://example.com>', '&lt;https://a <https://example.com>'],
		['<https://example.com/a>b> <@U', '<https://example.com/a>b&gt; &lt;@U'],
	])('%s is %s on the wire, and back', (written, wire) => {
		expect(toWire(written, users)).toBe(wire);
		expect(fromWire(wire, users)).toBe(written);
	});

	test('other text stays text, and only http and https addresses become links', () => {
		expect(parseText('<javascript:alert(1)|x>')).toEqual([{ kind: 'text', text: '<javascript:alert(1)|x>' }]);
		expect(parseText('2 * 3 * 4 snake_case_name')).toEqual([
			{ kind: 'text', text: '2 * 3 * 4 snake_case_name' },
		]);
		expect(parseText('see https://example.com/x.')).toEqual([
			{ kind: 'text', text: 'see ' },
			{ kind: 'link', href: 'https://example.com/x', text: 'https://example.com/x' },
			{ kind: 'text', text: '.' },
		]);
	});

	test('emoji are written by name; unknown names, times and code stay as they are', () => {
		const drawn = (text: string) =>
			parseText(text)
				.map((piece) => ('text' in piece ? piece.text : ''))
				.join('');
		expect(drawn('done :tada::+1: :nobody: 10:30:00 std::x::y')).toBe(
			'done 🎉👍 :nobody: 10:30:00 std::x::y',
		);
		expect(parseText('`:tada:`')).toEqual([{ kind: 'code', text: ':tada:' }]);
	});

	test('names, channels and emoji are completed while they are typed', () => {
		const shortcut = {
			name: 'Take a photo',
			type: 'global',
			callback_id: 'photo',
			app_id: 'A1',
			app_name: 'Lens',
		} as const;
		const features = {
			commands: [{ name: '/tide', desc: 'Says the tide', usage: '' }],
			shortcuts: [shortcut],
			homes: [],
		};
		const known = { users: [...users.values()], conversations: [], features };
		const handles = (text: string, from: Known = known) => {
			const written = writtenName(text, text.length);
			return written && candidatesFor(written, from).map(({ handle }) => handle);
		};
		expect(writtenName('hi @gr', 6)).toEqual({ sign: '@', text: 'gr' });
		expect(writtenName('mail a@gr', 9)).toBeNull();
		expect(handles('hop')).toBeNull();
		expect(handles('@hop')).toEqual(['@grace.h']);
		expect(handles('@')).toEqual(['@ada', '@grace.h', '@channel', '@here']);
		expect(handles('at 10:3')).toBeNull();
		expect(handles('/t')).toEqual(['/tide', 'Lens: photo']);
		for (const text of ['/tide', 'and /t', '/tide Dover', '/x']) expect(handles(text) ?? []).toEqual([]);
		expect(handles('nice :tad')).toEqual([':tada:']);
		const harbour = { id: 'C1', kind: 'public', name: 'harbour', topic: '' } as Conversation;
		expect(handles('in #ha', { ...known, conversations: [harbour] })).toEqual(['#harbour']);
		expect(toWire('in #harbour, #nowhere', users, [harbour])).toBe('in <#C1|harbour>, #nowhere');
		expect(fromWire('in <#C1|harbour>', users)).toBe('in #harbour');
		expect(complete('hi @gr!', 6, '@grace.h')).toEqual({ text: 'hi @grace.h !', caret: 12 });
	});

	test('quotes and lists are distinguished from paragraphs; code stays as it is', () => {
		expect(textBlocks('Look:\n&gt; he said\n&gt; so\nand\n- one\n- two\n3. three\n4. four')).toEqual([
			{ kind: 'words', text: 'Look:' },
			{ kind: 'quote', text: 'he said\nso' },
			{ kind: 'words', text: 'and' },
			{ kind: 'list', items: ['one', 'two'], from: null },
			{ kind: 'list', items: ['three', 'four'], from: 3 },
		]);
		expect(textBlocks('```\n- no\n&gt; no\n```')).toEqual([
			{ kind: 'words', text: '```\n- no\n&gt; no\n```' },
		]);
		expect(textBlocks('-1 is *bold*\n*b* c')).toEqual([{ kind: 'words', text: '-1 is *bold*\n*b* c' }]);
	});

	test('marking an own message unread starts at the next message by another user', () => {
		const of = (ts: string, user: string) => ({ ts, user, status: 'sent', isTombstone: false }) as Message;
		const all = [of('1', 'U1'), of('2', 'U2'), of('3', 'U1')];
		expect([unreadFrom(all, '2', 'U1'), unreadFrom(all, '1', 'U1'), unreadFrom(all, '3', 'U1')]).toEqual([
			'2',
			'2',
			null,
		]);
	});

	test('a message of more than 30 lines is folded', () => {
		const ofLines = (lines: number) => Array.from({ length: lines }, () => 'line').join('\n');
		expect([isLong(ofLines(30)), isLong(ofLines(31))]).toEqual([false, true]);
	});

	test('a badge has room for two digits', () => {
		expect([1, 99, 100, 10_000].map(shortCount)).toEqual(['1', '99', '99+', '99+']);
	});

	test('initials are whole characters', () => {
		expect(['Ada Lovelace', 'grace.hopper', '𝔐ia Berg', '🦊', ''].map(initialsOf)).toEqual([
			'AL',
			'GH',
			'𝔐B',
			'🦊',
			'',
		]);
	});
});

test('the warning about a long text counts one character as one', () => {
	const warningAt = (length: number) => lengthWarning('x'.repeat(length));
	expect(warningAt(MAX_CHARACTERS - 1_001)).toBeNull();
	expect(warningAt(MAX_CHARACTERS - 1_000)).toBe(`${(1_000).toLocaleString()} characters left.`);
	expect(warningAt(MAX_CHARACTERS - 1)).toBe('1 character left.');
	expect(warningAt(MAX_CHARACTERS)).toBe('0 characters left.');
	expect(warningAt(MAX_CHARACTERS + 1)).toStartWith('1 character too long. ');
	expect(warningAt(MAX_CHARACTERS + 2)).toStartWith('2 characters too long. ');
});

describe('the sidebar', () => {
	const all = [
		conversation('quiet'),
		conversation('busy', { unreadCount: 3, latest: '9.000000' }),
		conversation('called', { unreadCount: 1, badgeCount: 1, latest: '2.000000' }),
		conversation('muted', { unreadCount: 5, isMuted: true }),
		conversation('D1', { kind: 'im', user: 'U2', name: '' }),
	];
	const [quiet, busy, called] = all as [Conversation, Conversation, Conversation];
	const map = new Map(all.map((one) => [one.id, one]));

	test('unread conversations are first, those with a badge before the others; muted ones stay in their place', () => {
		expect(sidebarRows(map, null).map(({ key }) => key)).toEqual([
			'Unread',
			'called',
			'busy',
			'Channels',
			'muted',
			'quiet',
			'Direct messages',
			'D1',
		]);
	});

	test('the open conversation keeps its place, whatever is read or arrives', () => {
		const rows = (held: Conversation, now: Conversation) =>
			sidebarRows(new Map(map).set(now.id, now), held).map(({ key }) => key);
		const asBefore = sidebarRows(map, null).map(({ key }) => key);
		expect(rows(called, { ...called, hasUnreads: false, badgeCount: 0 })).toEqual(asBefore);
		expect(rows(busy, { ...busy, hasUnreads: false })).toEqual(asBefore);
		expect(rows(quiet, quiet)).toEqual(asBefore);
		expect(rows(quiet, { ...quiet, hasUnreads: true, badgeCount: 1, latest: '99.000000' })).toEqual(asBefore);
	});

	test('going to the next unread conversation wraps around, and stops if there is none', () => {
		expect(nextUnread(all, null, 1)).toBe('called');
		expect(nextUnread(all, called, 1)).toBe('busy');
		expect(nextUnread(all, busy, 1)).toBe('called');
		expect(nextUnread(all, quiet, -1)).toBe('busy');
		expect(nextUnread([quiet], quiet, 1)).toBeNull();
	});
});

describe('finding and naming', () => {
	test('input becomes a channel name as in Slack; an invalid name gets the server’s error', () => {
		expect(channelNameFrom(' #Fleet  Meeting ')).toBe('fleet-meeting');
		for (const name of [
			'',
			'a',
			'x'.repeat(80),
			'x'.repeat(81),
			'-_-',
			'bad!',
			'Übung',
			'übung',
			'日本',
			'a b',
		])
			expect(nameProblem(name)).toBe(checkChannelName(name) ?? null);
	});

	test('names that start with the letters come first, then words that do; people are found by either name', () => {
		const names = ['regatta', 'old-gate', 'gate', 'navigate'];
		expect(findByName(names, (name) => name, 'GAT')).toEqual(['gate', 'old-gate', 'regatta', 'navigate']);
		expect(findPeople(users, new Set(), '@grace.h').map(({ id }) => id)).toEqual(['U2']);
		expect(findPeople(users, new Set(), 'love').map(({ id }) => id)).toEqual(['U1']);
		expect(findPeople(users, new Set(['U1']), 'love')).toEqual([]);
	});
});

describe('the divider and visible messages', () => {
	test('the divider is above the first new message by another user', () => {
		const messages = [
			message('1.000000', 'U2'),
			message('2.000000', 'U1'),
			message('3.000000', 'U2'),
			message('4.000000', 'U2'),
		];
		const rows = timelineRows(messages, '1.000000', 'U1');
		expect(rows.map(({ startsNew }) => startsNew)).toEqual([false, false, true, false]);
		expect(rows.map(({ isContinued }) => isContinued)).toEqual([false, false, false, true]);
		expect(timelineRows(messages, null, 'U1').some(({ startsNew }) => startsNew)).toBe(false);
	});

	test('a mark unread lasts until the user marks the conversation read', () => {
		const read = conversation('c');
		const markedUnread = conversation('c', { unreadCount: 2, revision: 1, lastRead: '0.500000' });
		const reading = dividerAfterChange(dividerOnOpen(read), markedUnread, true);
		expect(reading.anchor).toBe('0.500000');
		expect(isMarkedUnread(reading, markedUnread)).toBe(true);
		const said = dividerAfterMarkRead(reading, markedUnread);
		expect(said.anchor).toBeNull();
		expect(isMarkedUnread(said, markedUnread)).toBe(false);
	});

	test('messages that arrive with attention cause no divider; without attention, or after an outage, they do', () => {
		const read = conversation('c');
		const more = conversation('c', { unreadCount: 1 });
		const followed = dividerAfterChange(dividerOnOpen(read), read, true);
		expect(dividerAfterChange(followed, more, true).anchor).toBeNull();
		expect(dividerAfterChange(followed, more, false).anchor).toBe('1.000000');
		// The connection returns together with the missed messages.
		const cutOff = dividerAfterChange(followed, read, false);
		expect(dividerAfterChange(cutOff, more, true).anchor).toBe('1.000000');
	});

	test('replies that arrive with attention cause no divider, although their count arrives later', () => {
		const anchorAfter = (...changes: Partial<ThreadSight>[]) => {
			let now = { newest: '1', unreadCount: 0, lastRead: '1', isSeenLive: true, isNewAbove: false };
			let state = threadDividerAfterChange(THREAD_OPENED, now);
			for (const change of changes) {
				now = { ...now, ...change };
				state = threadDividerAfterChange(state, now);
			}
			return state.anchor;
		};
		expect(anchorAfter({ newest: '2' }, { unreadCount: 1 })).toBeNull();
		expect(anchorAfter({ newest: '2', unreadCount: 1 })).toBeNull();
		// The connection or the attention returns together with the replies, or before their count.
		expect(anchorAfter({ isSeenLive: false }, { newest: '2', isSeenLive: true }, { unreadCount: 1 })).toBe(
			'1',
		);
		expect(
			anchorAfter({ isSeenLive: false }, { newest: '2' }, { isSeenLive: true }, { unreadCount: 1 }),
		).toBe('1');
		// More replies than fit on the screen, and replies that were marked unread.
		expect(anchorAfter({ newest: '2' }, { unreadCount: 40 }, { isNewAbove: true })).toBe('1');
		expect(anchorAfter({ lastRead: '0', unreadCount: 1 })).toBe('0');
		// The replies that the thread had when it was opened were not seen, even if their count arrives later.
		expect(anchorAfter({ unreadCount: 2 })).toBe('1');
	});

	test('unread messages are above if the oldest one is above the visible rows', () => {
		const messages = ['1.000000', '2.000000', '3.000000', '4.000000'].map((ts) => message(ts, 'U2'));
		const rows = timelineRows(messages, null, 'U1');
		const unread = conversation('c', { unreadCount: 3, lastRead: '1.000000' });
		const above = (first: number, hasOlder = false, of = unread) =>
			isNewAbove(of, rows, { first, hasOlder, self: 'U1' });
		expect([above(0), above(1), above(2)]).toEqual([false, false, true]);
		const further = conversation('c', { unreadCount: 9, lastRead: '0.500000' });
		expect([above(0, true, further), above(0, false, further)]).toEqual([true, false]);
		// All loaded messages are read: the unread ones are further down.
		expect(above(2, true, conversation('c', { unreadCount: 1, lastRead: '4.000000' }))).toBe(false);
	});

	test('new messages below are unread, by others, and after those that were on screen', () => {
		const messages = ['1.000000', '2.000000', '3.000000', '4.000000'].map((ts) => message(ts, 'U2'));
		const rows = timelineRows([...messages, message('5.000000', 'U1')], null, 'U1');
		const below = (newestSeen: string, lastRead: string, unreadCount: number, all = rows) =>
			countNewBelow(conversation('c', { lastRead, unreadCount }), all, { newestSeen, self: 'U1' });
		expect([below('1.000000', '1.000000', 3), below('2.000000', '1.000000', 3)]).toEqual([3, 2]);
		// The user followed a link to an earlier message.
		expect([below('1.000000', '4.000000', 0), below('1.000000', '3.000000', 1)]).toEqual([0, 1]);
		// Another device has read message 3 and skipped message 2.
		expect(below('1.000000', '1.000000', 2)).toBe(2);
		const withTombstone = timelineRows(
			[...messages, message('5.000000', 'USLACKBOT', { isTombstone: true })],
			null,
			'U1',
		);
		expect(below('3.000000', '3.000000', 1, withTombstone)).toBe(1);
		expect(below('4.000000', '3.000000', 1, withTombstone)).toBe(0);
	});

	test('a message is readable if its last line and half of it are on screen, or if it fills half of the screen', () => {
		const view = { from: 1000, height: 600 };
		const readable = (top: number, size: number) => isReadable({ top, size }, view);
		expect([readable(1000, 40), readable(1560, 40), readable(985, 40)]).toEqual([true, true, true]);
		expect([readable(970, 40), readable(1580, 40), readable(940, 40)]).toEqual([false, false, false]);
		expect([readable(900, 2000), readable(1290, 2000), readable(1350, 2000)]).toEqual([true, true, false]);
	});
});

describe('operations', () => {
	const text = `# HELP x y
tidemark_requests_total{method="chat.postMessage",outcome="ok"} 10
tidemark_requests_total{method="a\\"b",outcome="ok"} 5
h_bucket{le="0.1",method="a"} 50
h_bucket{le="0.2",method="a"} 100
h_bucket{le="+Inf",method="a"} 100
`;
	const samples = parseMetrics(text);

	test('metrics are parsed and summed, and quantiles are computed', () => {
		expect(sumOf(samples, 'tidemark_requests_total')).toBe(15);
		expect(sumOf(samples, 'tidemark_requests_total', { method: 'a"b' })).toBe(5);
		expect(sumOf(samples, 'nothing')).toBeNull();
		const buckets = bucketsOf(samples, 'h');
		expect(quantileBetween(new Map(), buckets, 0.25)).toBeCloseTo(0.05);
		expect(quantileBetween(new Map(), buckets, 0.99)).toBeCloseTo(0.198);
		expect(quantileBetween(buckets, buckets, 0.5)).toBeNull();
	});

	test('only exported metrics have charts', () => {
		const scrape = { at: 1, samples };
		expect(CHARTS.map((chart) => exportedBy(chart, scrape)?.id).filter(Boolean)).toEqual(['posts']);
	});

	test('counters of different processes are not compared; a silent process is reported, then forgotten', () => {
		const scrape = (at: number, requests: number) => ({
			at,
			samples: parseMetrics(`tidemark_requests_total{method="a",outcome="ok"} ${requests}`),
		});
		const gateway = (id: string) => ({ id, role: 'gateway' });
		let processes: readonly Process[] = [];
		for (let at = 0; at < 60; at += 2) {
			const [id, requests] = at % 4 === 0 ? (['a:1', at] as const) : (['b:1', 5_000 + at * 3] as const);
			processes = answered(processes, { ...gateway(id), scrape: scrape(at, requests) }, at * 1000);
			// The other process answers /readyz.
			processes = answered(processes, { ...gateway(id === 'a:1' ? 'b:1' : 'a:1'), degraded: [] }, at * 1000);
		}
		processes = answered(processes, { ...gateway('b:1'), degraded: ['kafka: unavailable'] }, 58_000);
		const rates = processes.map(({ scrapes }) => {
			const pairs = scrapes.slice(1).map((now, index) => [scrapes[index] ?? now, now] as const);
			return new Set(pairs.map(([before, now]) => CHARTS[0]?.lines[1]?.read(before, now)));
		});
		expect(rates).toEqual([new Set([1]), new Set([3])]);
		const [a, b] = processes as [Process, Process];
		expect(processes.map(titleOf)).toEqual(['gateway a:1', 'gateway b:1']);
		expect([
			chosenProcess(processes, null),
			chosenProcess(processes, 'b:1'),
			chosenProcess(processes, 'gone:1'),
		]).toEqual([a, b, a]);
		expect([problemsOf(a, 58_000), problemsOf(b, 58_000).length]).toEqual([[], 1]);
		expect(problemsOf(a, 100_000)).toMatchObject([{ what: 'This gateway does not answer', since: 58_000 }]);
		expect(answered(processes, { ...gateway('b:1'), degraded: [] }, 400_000).map(({ id }) => id)).toEqual([
			'b:1',
		]);
	});

	test('a degraded dependency has a start time: the server’s, or when the page first saw it', () => {
		const first = degradedFrom(
			['redis, since 2026-01-01T00:00:00.000Z: gone: really', 'store: full'],
			[],
			500,
		);
		expect(first).toEqual([
			{ what: 'redis', cause: 'gone: really', since: Date.parse('2026-01-01T00:00:00Z') },
			{ what: 'store', cause: 'full', since: 500 },
		]);
		expect(degradedFrom(['store: full'], first, 900)[0]?.since).toBe(500);
	});
});

test('the published package contains everything that the interface imports', async () => {
	const { dependencies } = await Bun.file(join(import.meta.dir, '../../package.json')).json();
	const sources = join(import.meta.dir, '../../web/src');
	const used = new Set<string>();
	for (const file of new Bun.Glob('**/*.{ts,tsx,css}').scanSync({ cwd: sources })) {
		const text = await Bun.file(join(sources, file)).text();
		for (const [, name = ''] of text.matchAll(/(?:from|@import) ['"]([^.'"/]+)/g)) used.add(name);
	}
	used.delete('@tidemark');
	expect([...used].sort()).toEqual(['react', 'react-dom', 'uplot', 'virtua']);
	expect(Object.keys(dependencies)).toEqual(expect.arrayContaining([...used]));
});
