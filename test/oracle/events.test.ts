/** The section "What moves them" of docs/model.md: post, edit, delete, reply, join, leave, kick, archive. */

import { describe, expect, test } from 'bun:test';
import { ANN, BEN, CHANNEL, CID, DM, DOT, Example } from '../support/oracle/example.ts';

describe('post', () => {
	test('the author’s cursor moves to it if the author had nothing unread', () => {
		const e = new Example();
		const ts = e.say(ANN);
		expect(e.of(ANN).last_read).toBe(ts);
	});

	test('otherwise it enters the ahead set, and earlier messages stay unread', () => {
		const e = new Example();
		const before = e.say(BEN);
		e.say(ANN);
		expect(e.of(ANN).last_read).toBe(0);
		expect(e.unreads(ANN, CHANNEL)).toEqual([before]);
	});

	test('if all earlier messages are in the ahead set, the cursor moves over them too', () => {
		const e = new Example();
		const [first, second] = [e.say(BEN), e.say(BEN)];
		e.markMessage(CHANNEL, ANN, second);
		e.remove(CHANNEL, first);
		const ts = e.say(ANN);
		expect(e.of(ANN).last_read).toBe(ts);
	});

	test('a reply that is not broadcast does not change the conversation cursor', () => {
		const e = new Example();
		const root = e.say(ANN);
		e.mark(CHANNEL, BEN, root);
		e.reply(BEN, root);
		expect(e.of(BEN).last_read).toBe(root);
		const shown = e.broadcast(BEN, root);
		expect(e.of(BEN).last_read).toBe(shown);
	});
});

describe('edit', () => {
	test('ts and place stay: a read message stays read', () => {
		const e = new Example();
		const ts = e.say(ANN);
		e.mark(CHANNEL, BEN, ts);
		e.change(ts, `<@${BEN}>`);
		expect([e.timeline(CHANNEL), e.unread(BEN), e.mentions(BEN)]).toEqual([[ts], 0, 0]);
	});

	test('a mention that the edit adds counts if the message is unread', () => {
		const e = new Example();
		const ts = e.say(ANN);
		e.change(ts, `<@${BEN}>`);
		expect([e.mentions(BEN), e.badge(BEN)]).toEqual([1, 1]);
	});

	test('a mention that the edit removes stops counting', () => {
		const e = new Example();
		const ts = e.say(ANN, `<@${BEN}> <!channel>`);
		e.change(ts, 'sorry');
		expect([e.unread(BEN), e.mentions(BEN), e.badge(CID)]).toEqual([1, 0, 0]);
	});
});

describe('delete', () => {
	test('removes the message from timeline and mentions, and lowers every count that included it', () => {
		const e = new Example();
		const ts = e.say(ANN, `<@${BEN}>`);
		e.remove(CHANNEL, ts);
		expect([e.timeline(CHANNEL), e.unread(BEN), e.mentions(BEN), e.badge(BEN)]).toEqual([[], 0, 0, 0]);
	});

	test('removes the reply from its thread', () => {
		const e = new Example();
		const root = e.say(ANN);
		e.remove(CHANNEL, e.reply(BEN, root, `<@${ANN}>`));
		expect(e.thread(ANN, root)).toEqual({ unread: 0, mentions: 0, last_read: root });
	});

	test('a cursor on a deleted message stays where it is', () => {
		const e = new Example();
		const [first, second] = [e.say(ANN), e.say(ANN)];
		e.mark(CHANNEL, BEN, second);
		e.remove(CHANNEL, second);
		e.mark(CHANNEL, BEN, first);
		expect(e.of(BEN)).toMatchObject({ last_read: second, latest: first });
	});

	test('a root with replies leaves a tombstone that counts for nothing; its replies still count', () => {
		const e = new Example();
		const root = e.say(ANN);
		e.reply(BEN, root);
		e.remove(CHANNEL, root);
		expect([e.timeline(CHANNEL), e.unread(CID), e.threadExists(CHANNEL, root)]).toEqual([[], 0, true]);
		expect(e.thread(ANN, root)?.unread).toBe(1);
	});

	test('the tombstone disappears with the last reply', () => {
		const e = new Example();
		const root = e.say(ANN);
		const reply = e.reply(BEN, root);
		e.remove(CHANNEL, root);
		e.remove(CHANNEL, reply);
		expect([e.threadExists(CHANNEL, root), e.follows(ANN), e.follows(BEN)]).toEqual([false, [], []]);
	});
});

describe('reply', () => {
	test('counts in the thread, for its followers only', () => {
		const e = new Example();
		const root = e.say(ANN);
		e.mark(CHANNEL, CID, root);
		e.reply(BEN, root);
		expect([e.thread(ANN, root)?.unread, e.unread(ANN)]).toEqual([1, 0]);
		expect([e.thread(CID, root), e.unread(CID)]).toEqual([undefined, 0]);
	});

	test('a broadcast reply counts in both', () => {
		const e = new Example();
		const root = e.say(ANN);
		e.broadcast(BEN, root);
		expect([e.thread(ANN, root)?.unread, e.unread(ANN)]).toEqual([1, 1]);
	});
});

describe('join', () => {
	test('no earlier message is unread', () => {
		const e = new Example();
		const ts = e.say(ANN, `<@${DOT}> <!channel>`);
		e.join(CHANNEL, DOT);
		expect(e.of(DOT)).toMatchObject({ last_read: ts, revision: 0, unread_count: 0, mention_count: 0 });
	});

	test('the cursor starts at the newest ts of any message, including deleted ones and replies', () => {
		const e = new Example();
		const root = e.say(ANN);
		const reply = e.reply(ANN, root);
		e.remove(CHANNEL, reply);
		e.join(CHANNEL, DOT);
		expect(e.of(DOT)).toMatchObject({ last_read: reply, latest: root });
	});

	test('a rejoin starts over, with a higher revision', () => {
		const e = new Example();
		const [first, second] = [e.say(ANN), e.say(ANN)];
		e.markUnread(CHANNEL, BEN, first);
		e.mute(CHANNEL, BEN, true);
		e.leave(CHANNEL, BEN);
		e.join(CHANNEL, BEN);
		expect(e.of(BEN)).toMatchObject({ last_read: second, revision: 2, unread_count: 0, is_muted: false });
	});

	test('earlier messages that the user marks unread count by the same rules', () => {
		const e = new Example();
		const [named, wide] = [e.say(ANN, `<@${DOT}>`), e.say(ANN, '<!channel>')];
		e.join(CHANNEL, DOT);
		e.markUnread(CHANNEL, DOT, named);
		expect([e.unreads(DOT, CHANNEL), e.mentions(DOT)]).toEqual([[named, wide], 1]);
	});
});

describe('leave, kick, archive', () => {
	test('after a leave, the conversation stops counting at once', () => {
		const e = new Example();
		const root = e.say(BEN);
		e.reply(ANN, root, `<@${BEN}>`);
		e.say(ANN, `<@${BEN}>`);
		expect(e.badge(BEN)).toBe(2);
		e.leave(CHANNEL, BEN);
		expect([e.row(BEN, CHANNEL), e.badge(BEN), e.explain(BEN), e.threads(BEN).threads]).toEqual([
			undefined,
			0,
			[],
			[],
		]);
		expect(e.members(CHANNEL)).toEqual([ANN, CID]);
	});

	test('an archived conversation counts for nobody; unarchived, it counts as before', () => {
		const e = new Example();
		const root = e.say(BEN);
		e.reply(ANN, root, `<@${BEN}>`);
		const before = [e.row(BEN, CHANNEL), e.badge(BEN), e.threads(BEN)];
		e.archive(CHANNEL);
		expect([e.row(BEN, CHANNEL), e.badge(BEN), e.threads(BEN).totals.unread_count]).toEqual([
			undefined,
			0,
			0,
		]);
		e.unarchive(CHANNEL);
		expect([e.row(BEN, CHANNEL), e.badge(BEN), e.threads(BEN)]).toEqual(before);
	});

	test('marking all read does not change an archived conversation', () => {
		const e = new Example();
		e.say(ANN);
		e.say(ANN, 'hello', DM);
		e.archive(CHANNEL);
		e.markAllRead(BEN);
		e.unarchive(CHANNEL);
		expect([e.unread(BEN), e.unread(BEN, DM)]).toEqual([1, 0]);
	});
});
