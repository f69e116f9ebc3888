/**
 * The section "What moves them" of docs/model.md: the marks, and the revision that keeps a second device from undoing a
 * mark unread.
 */

import { describe, expect, test } from 'bun:test';
import { ANN, BEN, CHANNEL, CID, DM, Example } from '../support/oracle/example.ts';

/** Four messages by Ann: 100, 200, 300, 400. */
function fourMessages(): Example {
	const e = new Example();
	for (let count = 0; count < 4; count += 1) {
		e.say(ANN);
	}
	return e;
}

describe('mark read to ts', () => {
	test('the cursor becomes the larger of the old cursor and ts: idempotent, in any order, the highest wins', () => {
		const e = fourMessages();
		e.mark(CHANNEL, BEN, 300);
		e.mark(CHANNEL, BEN, 300);
		e.mark(CHANNEL, BEN, 100);
		expect(e.of(BEN)).toMatchObject({ last_read: 300, unread_count: 1, revision: 0 });
	});

	test('a ts after the newest timeline message means that message', () => {
		const e = fourMessages();
		e.reply(ANN, 100);
		e.mark(CHANNEL, BEN, 999_999);
		expect(e.of(BEN).last_read).toBe(400);
		const later = e.say(ANN);
		expect(e.unreads(BEN, CHANNEL)).toEqual([later]);
	});

	test('in an empty timeline it changes nothing', () => {
		const e = new Example();
		expect(e.mark(CHANNEL, BEN, 500)).toEqual({ ignored: false });
		expect(e.of(BEN).last_read).toBe(0);
	});

	test('a ts between two messages is taken as it is', () => {
		const e = fourMessages();
		e.mark(CHANNEL, BEN, 250);
		expect(e.of(BEN)).toMatchObject({ last_read: 250, unread_count: 2 });
	});

	test('it does not continue over the ahead set, and keeps the later part of it', () => {
		const e = fourMessages();
		e.markMessage(CHANNEL, BEN, 300);
		e.mark(CHANNEL, BEN, 200);
		expect(e.of(BEN)).toMatchObject({ last_read: 200, unread_count: 1 });
		expect(e.unreads(BEN, CHANNEL)).toEqual([400]);
	});

	test('it moves no other user’s cursor', () => {
		const e = fourMessages();
		e.mark(CHANNEL, BEN, 400);
		expect(e.unread(CID)).toBe(4);
	});
});

describe('mark unread from ts', () => {
	test('the cursor moves back to 1 µs before ts, and the revision rises by 1', () => {
		const e = fourMessages();
		e.mark(CHANNEL, BEN, 400);
		e.markUnread(CHANNEL, BEN, 300);
		expect(e.of(BEN)).toMatchObject({ last_read: 299, revision: 1, unread_count: 2 });
	});

	test('the cursor never moves forward; the revision rises anyway', () => {
		const e = fourMessages();
		e.mark(CHANNEL, BEN, 100);
		e.markUnread(CHANNEL, BEN, 300);
		expect(e.of(BEN)).toMatchObject({ last_read: 100, revision: 1, unread_count: 3 });
	});

	test('messages from ts on leave the ahead set', () => {
		const e = fourMessages();
		e.markMessage(CHANNEL, BEN, 200);
		e.markMessage(CHANNEL, BEN, 300);
		e.markMessage(CHANNEL, BEN, 400);
		e.markUnread(CHANNEL, BEN, 300);
		expect(e.unreads(BEN, CHANNEL)).toEqual([100, 300, 400]);
	});

	test('marks with an older revision no longer move the cursor', () => {
		const e = fourMessages();
		e.mark(CHANNEL, BEN, 400);
		e.markUnread(CHANNEL, BEN, 300);
		expect(e.mark(CHANNEL, BEN, 400, 0)).toEqual({ ignored: true });
		expect(e.of(BEN).last_read).toBe(299);
	});

	test('marks with the current revision, a higher revision or no revision move the cursor', () => {
		for (const revision of [1, 7, undefined]) {
			const e = fourMessages();
			e.markUnread(CHANNEL, BEN, 100);
			expect(e.mark(CHANNEL, BEN, 400, revision)).toEqual({ ignored: false });
			expect(e.of(BEN)).toMatchObject({ last_read: 400, revision: 1 });
		}
	});
});

describe('mark one message read', () => {
	test('it enters the ahead set', () => {
		const e = fourMessages();
		e.markMessage(CHANNEL, BEN, 300);
		expect(e.of(BEN)).toMatchObject({ last_read: 0, unread_count: 3, revision: 0 });
	});

	test('if it is the next message after the cursor, the cursor moves to it', () => {
		const e = fourMessages();
		e.markMessage(CHANNEL, BEN, 100);
		expect(e.of(BEN).last_read).toBe(100);
	});

	test('and over the following messages in the ahead set', () => {
		const e = fourMessages();
		e.markMessage(CHANNEL, BEN, 200);
		e.markMessage(CHANNEL, BEN, 300);
		e.markMessage(CHANNEL, BEN, 100);
		expect(e.of(BEN)).toMatchObject({ last_read: 300, unread_count: 1 });
	});

	test('and over the user’s own messages, which always count as in the ahead set', () => {
		const e = new Example();
		const first = e.say(ANN);
		const own = e.say(BEN);
		e.say(ANN);
		e.markMessage(CHANNEL, BEN, first);
		expect(e.of(BEN)).toMatchObject({ last_read: own, unread_count: 1 });
	});

	test('an own message before it keeps the cursor where it is', () => {
		const e = new Example();
		const first = e.say(ANN);
		e.say(BEN);
		const third = e.say(ANN);
		e.remove(CHANNEL, first);
		e.markMessage(CHANNEL, BEN, third);
		expect(e.of(BEN)).toMatchObject({ last_read: 0, unread_count: 0 });
	});

	test('a deleted message before it does not keep the cursor back: it is not in the timeline', () => {
		const e = fourMessages();
		e.remove(CHANNEL, 100);
		e.markMessage(CHANNEL, BEN, 200);
		expect(e.of(BEN).last_read).toBe(200);
	});

	test('at or before the cursor it changes nothing', () => {
		const e = fourMessages();
		e.mark(CHANNEL, BEN, 300);
		e.markMessage(CHANNEL, BEN, 200);
		expect(e.of(BEN)).toMatchObject({ last_read: 300, unread_count: 1 });
	});
});

describe('mark all read', () => {
	test('marks every conversation and thread in one call, without a new revision', () => {
		const e = fourMessages();
		const own = e.say(BEN, 'root', DM);
		const reply = e.reply(ANN, own, `<@${BEN}>`, DM);
		e.say(ANN, 'hello', DM);
		e.markMessage(CHANNEL, BEN, 300);
		e.markAllRead(BEN);
		expect(e.of(BEN)).toMatchObject({ last_read: 400, unread_count: 0, revision: 0 });
		expect([e.unread(BEN, DM), e.badge(BEN)]).toEqual([0, 0]);
		expect(e.thread(BEN, own)).toEqual({ unread: 0, mentions: 0, last_read: reply });
	});

	test('moves to the newest message and not further: later messages are unread', () => {
		const e = fourMessages();
		e.markAllRead(BEN);
		e.say(ANN);
		expect(e.unread(BEN)).toBe(1);
	});
});
