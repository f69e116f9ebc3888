/** The formulas of unread and mentions, and the fields of a row. Each test states the sentence that it checks. */

import { describe, expect, test } from 'bun:test';
import { ANN, BEN, CHANNEL, CID, DM, DOT, Example, GROUP } from '../support/oracle/example.ts';

describe('unread(u, c)', () => {
	test('m in timeline(c): a new message is unread for every other member', () => {
		const e = new Example();
		const ts = e.say(ANN);
		expect(e.unreads(BEN, CHANNEL)).toEqual([ts]);
		expect(e.unreads(CID, CHANNEL)).toEqual([ts]);
	});

	test('author(m) != u: never unread for its author', () => {
		const e = new Example();
		e.say(BEN);
		e.say(ANN);
		e.markUnread(CHANNEL, ANN, 100);
		expect(e.unreads(ANN, CHANNEL)).toEqual([100]);
	});

	test('m.ts > cursor: everything at or before the cursor is read', () => {
		const e = new Example();
		const [first, second, third] = [e.say(ANN), e.say(ANN), e.say(ANN)];
		e.mark(CHANNEL, BEN, second);
		expect(first).toBeLessThan(second);
		expect(e.unreads(BEN, CHANNEL)).toEqual([third]);
	});

	test('m not in ahead: a message in the ahead set is not counted', () => {
		const e = new Example();
		const [first, second, third] = [e.say(ANN), e.say(ANN), e.say(ANN)];
		e.markMessage(CHANNEL, BEN, second);
		expect(e.unreads(BEN, CHANNEL)).toEqual([first, third]);
	});

	test('timeline: undeleted root messages and broadcast replies, in ts order', () => {
		const e = new Example();
		const root = e.say(ANN);
		const plain = e.reply(BEN, root);
		const shown = e.broadcast(BEN, root);
		const gone = e.say(ANN);
		e.remove(CHANNEL, gone);
		expect(e.timeline(CHANNEL)).toEqual([root, shown]);
		expect(e.replies(CHANNEL, root)).toEqual([plain, shown]);
	});

	test('conversations are independent', () => {
		const e = new Example();
		e.say(ANN, 'hello', DM);
		expect([e.unread(BEN, DM), e.unread(BEN, GROUP), e.unread(BEN)]).toEqual([1, 0, 0]);
	});
});

describe('mentions(u, c)', () => {
	test('m in that same set: a read mention does not count', () => {
		const e = new Example();
		const ts = e.say(ANN, `<@${BEN}>`);
		expect(e.mentions(BEN)).toBe(1);
		e.mark(CHANNEL, BEN, ts);
		expect(e.mentions(BEN)).toBe(0);
	});

	test('a mention in the ahead set does not count', () => {
		const e = new Example();
		e.say(ANN);
		e.markMessage(CHANNEL, BEN, e.say(ANN, `<@${BEN}>`));
		expect([e.unread(BEN), e.mentions(BEN)]).toEqual([1, 0]);
	});

	test('for a direct or group message: = unread(u, c)', () => {
		const e = new Example();
		e.say(ANN, 'plain', DM);
		e.say(ANN, 'plain', GROUP);
		e.say(CID, 'plain', GROUP);
		expect([e.mentions(BEN, DM), e.mentions(BEN, GROUP)]).toEqual([1, 2]);
	});

	test('a user’s mentions of themselves do not count', () => {
		const e = new Example();
		e.say(BEN);
		e.say(ANN, `<@${ANN}> <!channel>`);
		expect(e.mentions(ANN)).toBe(0);
	});
});

describe('rows', () => {
	test('a new conversation has nothing read and nothing unread', () => {
		expect(new Example().of(ANN)).toEqual({
			last_read: 0,
			revision: 0,
			latest: 0,
			unread_count: 0,
			unread_count_display: 0,
			mention_count: 0,
			has_unreads: false,
			is_muted: false,
			unread_count_is_capped: false,
		});
	});

	test('latest is the newest message of the timeline: not a plain reply, not a deleted message', () => {
		const e = new Example();
		const root = e.say(ANN);
		e.reply(BEN, root);
		e.remove(CHANNEL, e.say(ANN));
		expect(e.of(BEN).latest).toBe(root);
	});

	test('counts are exact up to the cap; beyond it they are the cap, and flagged', () => {
		const e = new Example(3);
		for (let count = 0; count < 3; count += 1) {
			e.say(ANN, '<!channel>');
		}
		expect(e.of(BEN)).toMatchObject({ unread_count: 3, unread_count_is_capped: false });
		e.say(ANN, '<!channel>');
		expect(e.of(BEN)).toMatchObject({ unread_count: 3, mention_count: 3, unread_count_is_capped: true });
		expect(e.unreads(BEN, CHANNEL)).toHaveLength(4);
	});

	test('muting only hides: unread_count, mention_count and has_unreads stay the same', () => {
		const e = new Example();
		e.say(ANN, `<@${BEN}>`);
		e.mute(CHANNEL, BEN, true);
		expect(e.of(BEN)).toMatchObject({
			unread_count: 1,
			unread_count_display: 0,
			mention_count: 1,
			has_unreads: true,
			is_muted: true,
		});
		e.mute(CHANNEL, BEN, false);
		expect(e.of(BEN)).toMatchObject({ unread_count_display: 1, is_muted: false });
	});

	test('a user who is not a member has no row', () => {
		const e = new Example();
		e.say(ANN);
		expect(e.row(DOT, CHANNEL)).toBeUndefined();
		expect(Object.keys(e.rows(CID))).toEqual([CHANNEL, GROUP]);
	});

	test('readers are the members for whom the message is not unread', () => {
		const e = new Example();
		const [first, second] = [e.say(ANN), e.say(ANN)];
		e.markMessage(CHANNEL, BEN, second);
		expect(e.readers(CHANNEL, first)).toEqual([ANN]);
		expect(e.readers(CHANNEL, second)).toEqual([ANN, BEN]);
	});
});
