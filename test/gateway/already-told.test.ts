import { expect, test } from 'bun:test';
import { AlreadyTold } from '../../src/gateway/socket/already-told.ts';
import { formatPosition } from '../../src/model/position.ts';
import { formatTs } from '../../src/model/ts.ts';
import type { JsonObject } from '../../src/protocol/objects.ts';

/** What comes live after it was told, or after something newer about the same was: it must not undo that. */

const JOINED = 100;
const stamped = (at: number, event: JsonObject): JsonObject => ({ ...event, position: formatPosition(at) });
const posted = (at: number, more: JsonObject = {}): JsonObject =>
	stamped(at, { type: 'message', ts: formatTs(at), ...more });
const changed = (ts: number, at: number): JsonObject =>
	stamped(at, {
		type: 'message',
		subtype: 'message_changed',
		ts: formatTs(at),
		message: { ts: formatTs(ts), edited: { ts: formatTs(at) } },
	});
const deleted = (ts: number, at: number): JsonObject =>
	stamped(at, { type: 'message', subtype: 'message_deleted', ts: formatTs(at), deleted_ts: formatTs(ts) });
const replied = (root: number, at: number): JsonObject =>
	stamped(at, {
		type: 'message',
		subtype: 'message_replied',
		ts: formatTs(at),
		message: { ts: formatTs(root) },
	});
const about = (what: string, at: number): JsonObject => stamped(at, { type: `channel_${what}` });

/** Of these live events, with their stamps, those that still have to be told. */
const left = (told: readonly JsonObject[], live: readonly JsonObject[]): JsonObject[] => {
	const already = new AlreadyTold(told, JOINED);
	return live.filter((event) => !already.includes(JSON.stringify(event), Number(event.position)));
};

test('what was told is not told again, what was not is', () => {
	const events = [posted(110), about('topic', 111), posted(112)];
	expect(left([posted(110), posted(112)], events)).toEqual([about('topic', 111)]);
});

test('a message that was told to be deleted does not come back', () => {
	expect(left([deleted(110, 130)], [posted(110), changed(110, 120), deleted(110, 130), posted(140)])).toEqual(
		[posted(140)],
	);
});

test('an earlier text does not replace the one that was told', () => {
	const told = [posted(110, { edited: { ts: formatTs(130) } })];
	expect(left(told, [posted(110), changed(110, 120), changed(110, 130), changed(110, 140)])).toEqual([
		changed(110, 140),
	]);
	expect(left([changed(50, 130)], [changed(50, 120), changed(60, 125)])).toEqual([changed(60, 125)]);
});

test('a thread, a name and being archived are told as they stand', () => {
	const told = [replied(50, 130), about('rename', 131), about('unarchive', 132)];
	expect(left(told, [replied(50, 120), about('rename', 121), about('archive', 122)])).toEqual([]);
	// The message itself is another matter than how its thread looks.
	expect(left(told, [changed(50, 120), about('topic', 121), replied(51, 122)])).toHaveLength(3);
});

test('each thread that is followed is a thing of its own; following and no longer following are one', () => {
	const follow = (type: string, thread_ts: number, at: number): JsonObject =>
		stamped(at, { type, subscription: { channel: 'C1', thread_ts: formatTs(thread_ts) } });
	const told = [follow('thread_subscribed', 50, 130)];
	const live = [
		follow('thread_subscribed', 40, 120),
		follow('thread_unsubscribed', 50, 121),
		follow('thread_marked', 50, 122),
		follow('thread_subscribed', 50, 130),
	];
	expect(left(told, live)).toEqual([live[0], live[2]] as JsonObject[]);
});

test('that one was out for a while is not told after one is in again', () => {
	const out = stamped(120, { type: 'channel_left', channel: 'C1' });
	const back = stamped(130, { type: 'channel_joined', channel: { id: 'C1' } });
	const made = stamped(110, { type: 'channel_created', channel: { id: 'C1' } });
	expect(left([back], [made, out, back])).toEqual([made]);
	expect(left([back], [stamped(120, { type: 'channel_left', channel: 'C2' })])).toHaveLength(1);
});

test('nothing from before the join is told, and who joined is', () => {
	const joined = stamped(JOINED, { type: 'member_joined_channel', user: 'U1' });
	expect(left([posted(110)], [posted(90), joined])).toEqual([joined]);
});
