import { expect, test } from 'bun:test';
import fc from 'fast-check';
import {
	decideNotification,
	type NotifiableMessage,
	type Recipient,
	reasonOf,
} from '../../src/push/decide.ts';

/** Compares the decision with the rules of docs/push.md, each implemented on its own. */

const ANNA = 'U000000ANNA';
const BEN = 'U0000000BEN';

const messages: fc.Arbitrary<NotifiableMessage> = fc
	.record({
		user: fc.constantFrom(ANNA, BEN),
		named: fc.subarray([ANNA, BEN]),
		channelWide: fc.boolean(),
		here: fc.boolean(),
		threadTs: fc.constantFrom(null, 5),
		broadcast: fc.boolean(),
		deleted: fc.boolean(),
		direct: fc.boolean(),
	})
	.map((one) => ({ ...one, broadcast: one.broadcast && one.threadTs !== null }));

const recipients: fc.Arbitrary<Recipient> = fc.record({
	user: fc.constant(ANNA),
	member: fc.boolean(),
	muted: fc.boolean(),
	level: fc.constantFrom('all', 'mentions', 'none'),
	follows: fc.boolean(),
	wasActive: fc.boolean(),
	read: fc.boolean(),
	active: fc.boolean(),
	waited: fc.boolean(),
});

/**
 * Rules that allow a notification, and rules that forbid it: a user is notified if one of the first and none of the
 * second applies.
 */
function byTheRules(message: NotifiableMessage, who: Recipient): 'notify' | 'wait' | 'no' {
	const onlyInThread = message.threadTs !== null && !message.broadcast;
	const named = message.named.includes(who.user);
	const grounds = [
		['a direct message', message.direct && !onlyInThread],
		['a mention by name', named && (!onlyInThread || who.follows)],
		['a channel-wide mention', message.channelWide && !onlyInThread],
		['a mention of active users', message.here && who.wasActive && !onlyInThread],
		['a reply in a followed thread', who.follows && (message.threadTs !== null || named)],
		['level all', who.level === 'all' && !onlyInThread],
	].filter(([, holds]) => holds);
	const against = [
		['the author', message.user === who.user],
		['users who are not in the conversation', !who.member],
		['level none', who.level === 'none'],
		['muted, and not by name', who.muted && !named],
		['users who have read it', who.read],
		['deleted messages', message.deleted],
	].filter(([, holds]) => holds);
	if (grounds.length === 0 || against.length > 0) return 'no';
	return who.active && !who.waited ? 'wait' : 'notify';
}

test('notifies exactly the users that the rules select', () => {
	const sane = fc
		.tuple(messages, recipients)
		// `follows` is about the thread of the message, and a root is in no thread.
		.map(
			([message, who]) => [message, message.threadTs === null ? { ...who, follows: false } : who] as const,
		);
	fc.assert(
		fc.property(sane, ([message, who]) => {
			expect(decideNotification(message, who)).toBe(byTheRules(message, who));
			// An edit notifies the users it newly mentions; other users were notified when the message was posted.
			const isMentioned =
				message.named.includes(who.user) ||
				(!who.muted && !message.direct && (message.channelWide || (message.here && who.wasActive)));
			const shown = message.threadTs === null || message.broadcast;
			const expected =
				isMentioned && (shown || message.named.includes(who.user)) ? byTheRules(message, who) : 'no';
			expect(decideNotification(message, who, 'changed')).toBe(expected);
		}),
		{ numRuns: 5_000 },
	);
});

const plain: NotifiableMessage = {
	user: BEN,
	named: [],
	channelWide: false,
	here: false,
	threadTs: null,
	broadcast: false,
	deleted: false,
	direct: false,
};
const anna: Recipient = {
	user: ANNA,
	member: true,
	muted: false,
	level: 'mentions',
	follows: false,
	wasActive: false,
	read: false,
	active: false,
	waited: false,
};

test.each([
	['a mention by name, even where it is muted', { named: [ANNA] }, { muted: true }, 'mention'],
	['a direct message', { direct: true }, {}, 'dm'],
	['a muted direct message', { direct: true }, { muted: true }, null],
	['a channel-wide mention', { channelWide: true }, {}, 'channel_mention'],
	['a channel-wide mention where it is muted', { channelWide: true }, { muted: true }, null],
	['<!here> to a user who was active', { here: true }, { wasActive: true }, 'channel_mention'],
	['<!here> to a user who was not active', { here: true }, {}, null],
	['a reply in a followed thread', { threadTs: 5 }, { follows: true }, 'thread_reply'],
	['a reply in another thread, at level all', { threadTs: 5 }, { level: 'all' }, null],
	['any message at level all', {}, { level: 'all' }, 'all'],
	['any message at level mentions', {}, {}, null],
	['a mention at level none', { named: [ANNA] }, { level: 'none' }, null],
	['their own message', { user: ANNA, channelWide: true }, { level: 'all' }, null],
] as const)('%s', (_, message, recipient, reason) => {
	expect(reasonOf({ ...plain, ...message }, { ...anna, ...recipient })).toBe(reason);
});
