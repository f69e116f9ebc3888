/** Whom a message names, whom it mentions, and mentions in code. */

import { describe, expect, test } from 'bun:test';
import { ANN, BEN, CHANNEL, CID, DOT, Example } from '../support/oracle/example.ts';
import { usersIn } from '../support/oracle/mentions.ts';

describe('a message names u', () => {
	test('if its text has <@U…> of u, with or without a label', () => {
		const e = new Example();
		e.say(ANN, `hi <@${BEN}>`);
		e.say(ANN, `hi <@${BEN}|ben>, <@${BEN}>`);
		expect([e.mentions(BEN), e.mentions(CID)]).toEqual([2, 0]);
	});

	test('if u is a member when it is sent: joining later adds nothing', () => {
		const e = new Example();
		const ts = e.say(ANN, `<@${DOT}>`);
		e.join(CHANNEL, DOT);
		e.markUnread(CHANNEL, DOT, ts);
		expect([e.unread(DOT), e.mentions(DOT)]).toEqual([1, 0]);
	});

	test('if u is a member when it is edited: an edit names new members', () => {
		const e = new Example();
		const ts = e.say(ANN, `<@${DOT}>`);
		e.join(CHANNEL, DOT);
		e.markUnread(CHANNEL, DOT, ts);
		e.change(ts, `dear <@${DOT}>`);
		expect(e.mentions(DOT)).toBe(1);
	});

	test('leaving removes no mention', () => {
		const e = new Example();
		const ts = e.say(ANN, `<@${BEN}>`);
		e.leave(CHANNEL, BEN);
		e.join(CHANNEL, BEN);
		e.markUnread(CHANNEL, BEN, ts);
		expect(e.mentions(BEN)).toBe(1);
	});

	test('a user who was named before and is still in the text stays named, even if no longer a member', () => {
		const e = new Example();
		const ts = e.say(ANN, `<@${BEN}>`);
		e.leave(CHANNEL, BEN);
		e.change(ts, `<@${BEN}> please`);
		e.join(CHANNEL, BEN);
		e.markUnread(CHANNEL, BEN, ts);
		expect(e.mentions(BEN)).toBe(1);
	});

	test('an edit removes the name and a later edit restores it: the members at the later time are named', () => {
		const e = new Example();
		const ts = e.say(ANN, `<@${BEN}>`);
		e.change(ts, 'nobody');
		e.leave(CHANNEL, BEN);
		e.change(ts, `<@${BEN}>`);
		e.join(CHANNEL, BEN);
		e.markUnread(CHANNEL, BEN, ts);
		expect(e.mentions(BEN)).toBe(0);
	});
});

describe('it mentions u', () => {
	test('if it has <!channel> or <!everyone>: every member whose cursor is before it', () => {
		const e = new Example();
		e.say(ANN, '<!channel>');
		e.mark(CHANNEL, CID, 100);
		e.say(ANN, '<!everyone> hello');
		expect([e.mentions(BEN), e.mentions(CID), e.mentions(ANN)]).toEqual([2, 1, 0]);
	});

	test('channel-wide and by name in one message is one mention', () => {
		const e = new Example();
		e.say(ANN, `<!channel> <@${BEN}> <@${BEN}>`);
		expect([e.mentions(BEN), e.badge(BEN)]).toEqual([1, 1]);
	});

	test('if it has <!here> and u is active when it is sent', () => {
		const e = new Example();
		e.setActive(BEN, true, e.now());
		e.say(ANN, '<!here>');
		expect([e.mentions(BEN), e.mentions(CID)]).toEqual([1, 0]);
	});

	test('becoming active or inactive later changes nothing', () => {
		const e = new Example();
		e.setActive(BEN, true, e.now());
		e.say(ANN, '<!here>');
		e.setActive(BEN, false, e.now());
		e.setActive(CID, true, e.now());
		expect([e.mentions(BEN), e.mentions(CID)]).toEqual([1, 0]);
		e.say(ANN, '<!here>');
		expect([e.mentions(BEN), e.mentions(CID)]).toEqual([1, 1]);
	});

	test('for a <!here> that an edit adds, the message’s ts decides', () => {
		const e = new Example();
		e.setActive(BEN, true, e.now());
		const ts = e.say(ANN);
		e.setActive(BEN, false, e.now());
		e.setActive(CID, true, e.now());
		e.change(ts, '<!here>');
		expect([e.mentions(BEN), e.mentions(CID)]).toEqual([1, 0]);
	});

	test('a change of activity takes effect at its own stamp', () => {
		const e = new Example();
		e.setActive(BEN, true, 100);
		expect([e.wasActive(BEN, 99), e.wasActive(BEN, 100), e.wasActive(CID, 100)]).toEqual([
			false,
			true,
			false,
		]);
	});
});

describe('code', () => {
	const name = `<@${BEN}>`;
	const cases: [title: string, text: string, mentioned: boolean][] = [
		['closed inline code on one line mentions nobody', `see \`${name}\``, false],
		['inline code does not reach over a line', `see \`a\n${name}\``, true],
		['a closed code block mentions nobody', `\`\`\`${name}\`\`\``, false],
		['a code block may span lines', `\`\`\`\na\n${name}\n\`\`\``, false],
		['an unclosed backtick is plain text', `see \`${name}`, true],
		['an unclosed block is plain text', `\`\`\`\n${name}`, true],
		['a name outside of code mentions', `\`a\` ${name} \`b\``, true],
		['code does not join the texts on its sides', `<@\`x\`${BEN}>`, false],
	];
	for (const [title, text, mentioned] of cases) {
		test(title, () => expect(usersIn(text).has(BEN)).toBe(mentioned));
	}

	test('channel-wide mentions in code mention nobody either', () => {
		const e = new Example();
		e.setActive(BEN, true, e.now());
		e.say(ANN, '`<!channel>` ```<!everyone> <!here>```');
		expect(e.mentions(BEN)).toBe(0);
	});
});
