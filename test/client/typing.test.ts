import { expect, test } from 'bun:test';
import type { Platform } from '../../client/src/platform.ts';
import { Typing } from '../../client/src/typing.ts';

/** Who is typing, by the events that end it. */

const timers = { set: () => 0, clear: () => undefined };
const typing = () => {
	const state = new Typing(
		{ now: () => 0, timers } as unknown as Platform,
		() => true,
		() => undefined,
	);
	state.receive({ type: 'user_typing', channel: 'C1', user: 'U1' });
	return state;
};

test.each([undefined, 'thread_broadcast', 'bot_message', 'me_message', 'file_share'])(
	'a message ends the typing of its author (subtype %s)',
	(subtype) => {
		const state = typing();
		state.receive({ type: 'message', channel: 'C1', user: 'U1', ...(subtype ? { subtype } : {}) });
		expect(state.in('C1')).toEqual([]);
	},
);

test('edits, and messages of other users, do not end it', () => {
	const state = typing();
	state.receive({ type: 'message', channel: 'C1', user: 'U1', subtype: 'message_changed' });
	state.receive({ type: 'message', channel: 'C1', user: 'U2' });
	expect(state.in('C1')).toEqual(['U1']);
});
