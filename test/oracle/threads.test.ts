/** Every sentence of docs/model.md about threads: who follows, where cursors start, what moves them, what they count. */

import { describe, expect, test } from 'bun:test';
import { ANN, BEN, CHANNEL, CID, DM, DOT, Example } from '../support/oracle/example.ts';

/** Ann's root at 100. */
function rooted(): { e: Example; root: number } {
	const e = new Example();
	return { e, root: e.say(ANN) };
}

describe('followers', () => {
	test('a user who wrote the root; the cursor starts at the root', () => {
		const { e, root } = rooted();
		expect(e.follows(ANN)).toEqual([{ channel: CHANNEL, thread_ts: root, last_read: root }]);
		e.reply(BEN, root);
		expect(e.thread(ANN, root)).toEqual({ unread: 1, mentions: 0, last_read: root });
	});

	test('a user who replied; the cursor starts at that reply', () => {
		const { e, root } = rooted();
		e.reply(ANN, root);
		const own = e.reply(BEN, root);
		expect(e.thread(BEN, root)).toEqual({ unread: 0, mentions: 0, last_read: own });
	});

	test('a user who was named in a reply; the cursor starts 1 µs before that reply', () => {
		const { e, root } = rooted();
		e.reply(ANN, root);
		const naming = e.reply(ANN, root, `<@${BEN}>`);
		expect(e.thread(BEN, root)).toEqual({ unread: 1, mentions: 1, last_read: naming - 1 });
	});

	test('a user who was named by an edit of a reply', () => {
		const { e, root } = rooted();
		const first = e.reply(ANN, root);
		e.reply(ANN, root);
		e.change(first, `<@${BEN}>`);
		expect(e.thread(BEN, root)).toEqual({ unread: 2, mentions: 1, last_read: first - 1 });
	});

	test('not a user who was mentioned in the root', () => {
		const e = new Example();
		const root = e.say(ANN, `<@${BEN}>`);
		e.reply(ANN, root);
		e.change(root, `<@${BEN}> <@${CID}>`);
		expect([e.thread(BEN, root), e.thread(CID, root)]).toEqual([undefined, undefined]);
	});

	test('a user who subscribed; the cursor starts at the newest reply', () => {
		const { e, root } = rooted();
		const newest = e.reply(ANN, root);
		e.remove(CHANNEL, e.reply(ANN, root));
		e.follow(CHANNEL, root, BEN);
		expect(e.thread(BEN, root)).toEqual({ unread: 0, mentions: 0, last_read: newest });
	});

	test('a user who subscribes before there is a reply starts at the root, or at the given ts', () => {
		const { e, root } = rooted();
		e.follow(CHANNEL, root, BEN);
		expect(e.thread(BEN, root)?.last_read).toBe(root);
		const reply = e.reply(ANN, root);
		e.follow(CHANNEL, root, CID, root);
		expect([e.thread(CID, root)?.unread, reply]).toEqual([1, reply]);
	});

	test('subscribing again changes nothing', () => {
		const { e, root } = rooted();
		e.follow(CHANNEL, root, BEN);
		e.reply(ANN, root);
		e.follow(CHANNEL, root, BEN);
		expect(e.thread(BEN, root)).toEqual({ unread: 1, mentions: 0, last_read: root });
	});

	test('being named while following does not move the cursor', () => {
		const { e, root } = rooted();
		e.reply(BEN, root);
		e.reply(BEN, root, `<@${ANN}>`);
		expect(e.thread(ANN, root)).toEqual({ unread: 2, mentions: 1, last_read: root });
	});

	test('a user who is not a member when named does not follow', () => {
		const { e, root } = rooted();
		e.reply(ANN, root, `<@${DOT}>`);
		e.join(CHANNEL, DOT);
		expect(e.follows(DOT)).toEqual([]);
	});
});

describe('unfollowing', () => {
	test('removing a mention does not end following', () => {
		const { e, root } = rooted();
		const reply = e.reply(ANN, root, `<@${BEN}>`);
		e.change(reply, 'nobody');
		expect(e.thread(BEN, root)).toEqual({ unread: 1, mentions: 0, last_read: reply - 1 });
	});

	test('deleting the reply does not end following', () => {
		const { e, root } = rooted();
		e.remove(CHANNEL, e.reply(ANN, root, `<@${BEN}>`));
		e.reply(ANN, root);
		expect(e.thread(BEN, root)?.unread).toBe(1);
	});

	test('unsubscribing lasts while others reply', () => {
		const { e, root } = rooted();
		e.reply(BEN, root);
		e.unfollow(CHANNEL, root, ANN);
		e.reply(BEN, root);
		expect(e.thread(ANN, root)).toBeUndefined();
	});

	test('a reply makes its author follow again, with a new cursor at that reply', () => {
		const { e, root } = rooted();
		e.unfollow(CHANNEL, root, ANN);
		e.reply(BEN, root);
		const own = e.reply(ANN, root);
		expect(e.thread(ANN, root)).toEqual({ unread: 0, mentions: 0, last_read: own });
	});

	test('a new mention makes the user follow again, with a new cursor 1 µs before it', () => {
		const { e, root } = rooted();
		e.reply(BEN, root);
		e.unfollow(CHANNEL, root, ANN);
		const naming = e.reply(BEN, root, `<@${ANN}>`);
		expect(e.thread(ANN, root)).toEqual({ unread: 1, mentions: 1, last_read: naming - 1 });
	});

	test('an edit of a reply that already named the user does not make the user follow again', () => {
		const { e, root } = rooted();
		const reply = e.reply(BEN, root, `<@${ANN}>`);
		e.unfollow(CHANNEL, root, ANN);
		e.change(reply, `<@${ANN}>, please`);
		expect(e.thread(ANN, root)).toBeUndefined();
	});

	test('leaving the conversation ends following, and rejoining does not restore it', () => {
		const { e, root } = rooted();
		e.reply(BEN, root);
		e.leave(CHANNEL, ANN);
		e.join(CHANNEL, ANN);
		e.reply(BEN, root);
		expect(e.thread(ANN, root)).toBeUndefined();
	});
});

describe('thread cursors', () => {
	test('are independent of the conversation’s cursor, in both directions', () => {
		const { e, root } = rooted();
		const reply = e.broadcast(BEN, root);
		e.mark(CHANNEL, ANN, reply);
		expect([e.unread(ANN), e.thread(ANN, root)?.unread]).toEqual([0, 1]);
		e.markUnread(CHANNEL, ANN, reply);
		e.markThread(CHANNEL, root, ANN, reply);
		expect([e.unread(ANN), e.thread(ANN, root)?.unread]).toEqual([1, 0]);
	});

	test('a reply moves its author’s thread cursor to it if nothing in the thread was unread', () => {
		const { e, root } = rooted();
		const own = e.reply(ANN, root);
		expect(e.thread(ANN, root)?.last_read).toBe(own);
	});

	test('otherwise the cursor stays, and earlier replies stay unread', () => {
		const { e, root } = rooted();
		e.reply(BEN, root);
		e.reply(ANN, root);
		expect(e.thread(ANN, root)).toEqual({ unread: 1, mentions: 0, last_read: root });
	});

	test('a mark sets the cursor to the larger of the old cursor and ts; a ts after the newest reply means that reply', () => {
		const { e, root } = rooted();
		const [first, second] = [e.reply(BEN, root), e.reply(BEN, root)];
		e.markThread(CHANNEL, root, ANN, 999_999);
		e.markThread(CHANNEL, root, ANN, first);
		expect(e.thread(ANN, root)?.last_read).toBe(second);
	});

	test('marking unread from a reply moves the cursor to 1 µs before it, never forward', () => {
		const { e, root } = rooted();
		const [first, second] = [e.reply(BEN, root), e.reply(BEN, root)];
		e.markThread(CHANNEL, root, ANN, second);
		e.markThreadUnread(CHANNEL, root, ANN, first);
		e.markThreadUnread(CHANNEL, root, ANN, second);
		expect(e.thread(ANN, root)).toEqual({ unread: 2, mentions: 0, last_read: first - 1 });
	});
});

describe('thread counts', () => {
	test('channel-wide mentions never count in a thread', () => {
		const { e, root } = rooted();
		e.reply(BEN, root, '<!channel> <!everyone>');
		expect(e.thread(ANN, root)).toEqual({ unread: 1, mentions: 0, last_read: root });
		expect(e.badge(ANN)).toBe(0);
	});

	test('channel-wide mentions in a broadcast reply count in the conversation', () => {
		const { e, root } = rooted();
		e.broadcast(BEN, root, '<!channel>');
		expect([e.mentions(ANN), e.thread(ANN, root)?.mentions, e.badge(ANN)]).toEqual([1, 0, 1]);
	});

	test('a reply in a direct message that names nobody is unread in the thread, and not in the badge', () => {
		const e = new Example();
		const root = e.say(ANN, 'root', DM);
		e.reply(BEN, root, 'plain', DM);
		expect([e.thread(ANN, root)?.unread, e.unread(ANN, DM), e.badge(ANN)]).toEqual([1, 0, 0]);
	});

	test('totals are the sums over followed threads', () => {
		const { e, root } = rooted();
		const other = e.say(ANN, 'root', DM);
		e.reply(BEN, root, `<@${ANN}>`);
		e.reply(BEN, other, 'plain', DM);
		expect(e.threads(ANN).totals).toEqual({ has_unreads: true, unread_count: 2, mention_count: 1 });
		expect(e.threads(CID).totals).toEqual({ has_unreads: false, unread_count: 0, mention_count: 0 });
	});
});
