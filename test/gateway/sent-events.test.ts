import { expect, test } from 'bun:test';
import { SentEvents } from '../../src/gateway/socket/sent-events.ts';
import { type Conversation, NO_CHANNEL_TEXT } from '../../src/model/conversation.ts';
import type { Message } from '../../src/model/message.ts';
import {
	type Changed,
	changedEvent,
	joinedEvent,
	leftEvent,
} from '../../src/protocol/conversation-events.ts';
import {
	announcementsOf,
	markedEvent,
	preferenceEvent,
	threadMarkedEvent,
	threadSubscribedEvent,
	threadUnsubscribedEvent,
} from '../../src/protocol/events.ts';
import { type LiveEvent, liveEvent } from '../../src/protocol/live-event.ts';
import { deletedEvent, editedEvent, messageEvent, repliedEvent } from '../../src/protocol/message-events.ts';

/** Live events that arrive after the same event, or a newer one about the same subject, was sent: they must not undo it. */

const JOINED = 100;
const channel: Conversation = {
	id: 'C1',
	team: 'T1',
	kind: 'public',
	name: 'pier',
	creator: 'U1',
	createdTs: 1,
	archived: false,
	topic: NO_CHANNEL_TEXT,
	purpose: NO_CHANNEL_TEXT,
	previousNames: [],
	memberCount: 2,
	people: [],
	changedTs: 1,
};
const messageOf = (ts: number, editedTs: number | null = null): Message => ({
	conversation: 'C1',
	ts,
	user: 'U1',
	text: '',
	threadTs: null,
	broadcast: false,
	clientMsgId: null,
	named: [],
	channelWide: false,
	here: false,
	editedTs,
	changedTs: editedTs ?? ts,
	deleted: false,
	extra: null,
});

/** An event with the stamp that live delivery gives it. */
interface Live {
	readonly at: number;
	readonly event: LiveEvent;
}
const posted = (at: number, edited: number | null = null): Live => ({
	at,
	event: messageEvent({ conversation: channel, message: messageOf(at, edited), prevTs: null, thread: null }),
});
const changed = (ts: number, at: number): Live => ({
	at,
	event: editedEvent(channel, messageOf(ts, at)),
});
const deleted = (ts: number, at: number): Live => ({
	at,
	event: deletedEvent(channel, { ...messageOf(ts), changedTs: at, deleted: true }, false),
});
const replied = (root: number, at: number): Live => {
	const thread = {
		root: messageOf(root),
		replyCount: 1,
		latestReply: at,
		replyUsers: [],
		replyUsersCount: 0,
	};
	return { at, event: repliedEvent(channel, thread, at) };
};
const about = (what: Changed['what'], at: number): Live => ({
	at,
	event: changedEvent({ conversation: channel, what, actor: 'U1', at }),
});

/** Those of these live events that still have to be sent. */
const left = (sent: readonly Live[], live: readonly Live[]): readonly Live[] => {
	const already = new SentEvents(
		sent.map(({ event }) => event),
		JOINED,
	);
	return live.filter(({ event, at }) => !already.includes(event.subject, at));
};

test('an event that was sent is not sent again, and an unsent one is', () => {
	const events = [posted(110), about('topic', 111), posted(112)];
	expect(left([posted(110), posted(112)], events)).toEqual([about('topic', 111)]);
});

test('a deleted message does not return', () => {
	expect(left([deleted(110, 130)], [posted(110), changed(110, 120), deleted(110, 130), posted(140)])).toEqual(
		[posted(140)],
	);
});

test('an older text does not replace a newer one', () => {
	const sent = [posted(110, 130)];
	expect(left(sent, [posted(110), changed(110, 120), changed(110, 130), changed(110, 140)])).toEqual([
		changed(110, 140),
	]);
	expect(left([changed(50, 130)], [changed(50, 120), changed(60, 125)])).toEqual([changed(60, 125)]);
});

test('thread, name and archived state are sent in their current state', () => {
	const sent = [replied(50, 130), about('rename', 131), about('unarchive', 132)];
	expect(left(sent, [replied(50, 120), about('rename', 121), about('archive', 122)])).toEqual([]);
	// A message and the state of its thread are different subjects.
	expect(left(sent, [changed(50, 120), about('topic', 121), replied(51, 122)])).toHaveLength(3);
});

test('each followed thread is a subject of its own; follow and unfollow share one', () => {
	const thread = (threadTs: number) => ({ conversation: 'C1', threadTs, since: 1, lastRead: 0 });
	const begun = (ts: number, at: number): Live => ({ at, event: threadSubscribedEvent(thread(ts), at) });
	const ended = (ts: number, at: number): Live => ({ at, event: threadUnsubscribedEvent(thread(ts), at) });
	const read: Live = { at: 122, event: liveEvent('C1', 'read 50', 122, {}) };
	const live = [begun(40, 120), ended(50, 121), read, begun(50, 130)];
	expect(left([begun(50, 130)], live)).toEqual([begun(40, 120), read]);
});

test('a mark that was being made when the client resumed is sent, even if a message with a later stamp was sent', () => {
	const row = (user: number, conversation: number) => ({
		...({ conversation: 'C1', kind: 'public', latest: conversation, lastRead: 0, revision: 0 } as const),
		...({ muted: false, level: 'all', unread: 0, mentions: 0, badge: 0 } as const),
		position: { conversation, user },
	});
	const thread = (user: number, conversation: number) => ({
		...{ conversation: 'C1', threadTs: 50, lastRead: 0, since: 1, unread: 0, mentions: 0, badge: 0 },
		...{ latestReply: 0, position: { conversation, user } },
	});
	for (const live of [
		(user: number, stamp: number): Live => ({ at: user, event: markedEvent(row(user, stamp) as never) }),
		(user: number, stamp: number): Live => ({ at: user, event: preferenceEvent(row(user, stamp) as never) }),
		(user: number, stamp: number): Live => ({
			at: user,
			event: threadMarkedEvent(thread(user, stamp) as never),
		}),
	]) {
		const sent = [posted(130), live(110, 130)];
		expect(left(sent, [live(105, 120), live(110, 130), live(120, 130)])).toEqual([live(120, 130)]);
	}
});

test('a leave before a rejoin is not sent', () => {
	const out = (conversation = channel): Live => ({ at: 120, event: leftEvent(conversation, 120) });
	const back: Live = { at: 130, event: joinedEvent(channel, 'U1', { cursor: 0, latest: 0 }, 130) };
	const effect = { type: 'created', conversation: channel, members: [], actor: 'U1', at: 110 } as const;
	const made = announcementsOf(effect).map(({ event }): Live => ({ at: 110, event }));
	expect(made).toHaveLength(1);
	expect(left([back], [...made, out(), back])).toEqual(made);
	expect(left([back], [out({ ...channel, id: 'C2' })])).toHaveLength(1);
});

test('a follow or mark from before the user left is not sent, other events are', () => {
	const out: Live = { at: 130, event: leftEvent(channel, 130) };
	const mark: Live = { at: 121, event: liveEvent('C1', 'marked', 121, {}) };
	const renamed: Live = { at: 122, event: liveEvent('C1', 'rename', 122, {}) };
	const begun = (threadTs: number, at: number): Live => ({
		at,
		event: liveEvent('C1', `follow ${threadTs}`, at, {}),
	});
	expect(left([out], [begun(50, 120), mark, renamed])).toEqual([renamed]);
	expect(left([out], [begun(50, 131)])).toEqual([begun(50, 131)]);
});

test('nothing from before the join is sent, and the join is', () => {
	const joined: Live = { at: JOINED, event: liveEvent('C1', 'member U1', JOINED, {}) };
	expect(left([posted(110)], [posted(90), joined])).toEqual([joined]);
});

test('an event of an older release, without a subject, is recognised by its stamp', () => {
	const already = new SentEvents([posted(110).event, posted(120).event], JOINED);
	const isKnown = (at: number): boolean => already.includes(undefined, at);
	expect([90, 110, 115, 120, 121].map(isKnown)).toEqual([true, true, false, true, false]);
});
