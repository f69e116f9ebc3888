/** The badge, its parts, and the list that explains it. */

import { describe, expect, test } from 'bun:test';
import { ANN, BEN, CHANNEL, CID, DM, Example, GROUP } from '../support/oracle/example.ts';

describe('badge(u)', () => {
	test('the sum over conversations of mentions(u, c)', () => {
		const e = new Example();
		e.say(ANN, 'plain');
		e.say(ANN, `<@${BEN}>`);
		e.say(ANN, '<!channel>');
		e.say(ANN, 'plain', DM);
		e.say(CID, 'plain', GROUP);
		expect([e.badge(BEN), e.badge(CID), e.badge(ANN)]).toEqual([4, 1, 1]);
	});

	test('+ the sum over followed threads of thread_mentions', () => {
		const e = new Example();
		const root = e.say(ANN);
		e.reply(CID, root, `<@${ANN}>`);
		e.reply(CID, root, `<@${BEN}>`);
		expect([e.badge(ANN), e.badge(BEN), e.badge(CID)]).toEqual([1, 1, 0]);
	});

	test('without broadcast replies, which count in the conversation', () => {
		const e = new Example();
		const root = e.say(ANN);
		const reply = e.broadcast(CID, root, `<@${ANN}>`);
		expect([e.mentions(ANN), e.thread(ANN, root)?.mentions, e.badge(ANN)]).toEqual([1, 1, 1]);
		e.mark(CHANNEL, ANN, reply);
		expect([e.thread(ANN, root)?.mentions, e.badge(ANN)]).toEqual([1, 0]);
	});

	test('a user who unsubscribed has no thread mentions', () => {
		const e = new Example();
		const root = e.say(ANN);
		e.reply(CID, root, `<@${ANN}>`);
		e.unfollow(CHANNEL, root, ANN);
		expect(e.badge(ANN)).toBe(0);
	});

	test('muted: messages that name the user still count, channel-wide mentions do not', () => {
		const e = new Example();
		e.say(ANN, `<@${BEN}>`);
		e.say(ANN, '<!channel>');
		e.mute(CHANNEL, BEN, true);
		expect([e.mentions(BEN), e.badge(BEN)]).toEqual([2, 1]);
	});

	test('in a muted direct message plain messages do not count', () => {
		const e = new Example();
		e.say(ANN, 'plain', DM);
		e.say(ANN, `<@${BEN}>`, DM);
		e.mute(DM, BEN, true);
		expect([e.mentions(BEN, DM), e.badge(BEN)]).toEqual([2, 1]);
	});

	test('thread mentions of a muted conversation still count: they name the user', () => {
		const e = new Example();
		const root = e.say(ANN);
		e.reply(BEN, root, `<@${ANN}>`);
		e.mute(CHANNEL, ANN, true);
		expect(e.badge(ANN)).toBe(1);
	});
});

describe('explain(u)', () => {
	test('each item has its reasons', () => {
		const e = new Example();
		const named = e.say(ANN, `<@${BEN}>`);
		const wide = e.say(ANN, '<!channel>');
		const both = e.say(ANN, `<!everyone> <@${BEN}>`);
		e.say(ANN, 'plain');
		const dm = e.say(ANN, 'plain', DM);
		expect(e.explain(BEN)).toEqual([
			{ channel: CHANNEL, ts: named, reasons: ['direct_mention'] },
			{ channel: CHANNEL, ts: wide, reasons: ['channel_mention'] },
			{ channel: CHANNEL, ts: both, reasons: ['direct_mention', 'channel_mention'] },
			{ channel: DM, ts: dm, reasons: ['dm'] },
		]);
	});

	test('a reply is explained in its thread, a broadcast reply in the conversation', () => {
		const e = new Example();
		const root = e.say(ANN);
		const reply = e.reply(CID, root, `<@${ANN}>`);
		const shown = e.broadcast(CID, root, `<@${ANN}>`);
		expect(e.explain(ANN)).toEqual([
			{ channel: CHANNEL, ts: reply, thread_ts: root, reasons: ['thread_mention'] },
			{ channel: CHANNEL, ts: shown, thread_ts: root, reasons: ['direct_mention'] },
		]);
	});

	test('muted: only messages that name the user are items, and channel-wide is not a reason', () => {
		const e = new Example();
		const both = e.say(ANN, `<!channel> <@${BEN}>`);
		e.say(ANN, '<!channel>');
		const dm = e.say(ANN, `<@${BEN}>`, DM);
		e.say(ANN, 'plain', DM);
		e.mute(CHANNEL, BEN, true);
		e.mute(DM, BEN, true);
		expect(e.explain(BEN)).toEqual([
			{ channel: CHANNEL, ts: both, reasons: ['direct_mention'] },
			{ channel: DM, ts: dm, reasons: ['dm', 'direct_mention'] },
		]);
	});

	test('<!here> is a reason only for users who were active', () => {
		const e = new Example();
		e.setActive(BEN, true, e.now());
		const ts = e.say(ANN, '<!here>');
		expect(e.explain(BEN)).toEqual([{ channel: CHANNEL, ts, reasons: ['channel_mention'] }]);
		expect(e.explain(CID)).toEqual([]);
	});
});
