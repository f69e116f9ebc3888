import { expect, test } from 'bun:test';
import { MemoryBus } from '../../src/engine/embedded/memory-bus.ts';
import type { BusMessage } from '../../src/engine/ports/bus.ts';
import type { Effect } from '../../src/sequencer/effects.ts';
import { publishEvents } from '../../src/worker/publish-events.ts';
import { BEGIN, conversation, joined, left } from '../support/store/facts.ts';

/**
 * Applications greet when they are added. So a user who joins gets the event even if the subscription to the
 * conversation is not active yet, and a user who leaves gets it even if the subscription has ended.
 */

/** The events about this change, and their recipients. */
function publishedOf(wanted: string, effect: Effect): string[] {
	const bus = new MemoryBus();
	const published: string[] = [];
	const note = (whom: string) => (message: BusMessage) => {
		if (message.type !== 'event') {
			published.push(`${whom}: ${message.type}`);
			return;
		}
		const { type, user } = JSON.parse(message.frame);
		if (type === wanted)
			published.push(
				`${whom}: ${user}${message.exceptUser === undefined ? '' : ` but ${message.exceptUser}`}`,
			);
	};
	for (const topic of ['live:C01', 'user:U02', 'user:U03'] as const) bus.subscribe(topic, note(topic));
	publishEvents(effect, bus);
	return published;
}

test('a leave is sent to its user directly, before the unsubscribe, and to others over the conversation', () => {
	const published = publishedOf('member_left_channel', left(conversation('C01'), 'U02', BEGIN + 1));
	expect(published).toEqual(['user:U02: U02', 'live:C01: U02 but U02', 'user:U02: left']);
});

test('a join is sent to its user directly, and to others over the conversation', () => {
	const published = publishedOf(
		'member_joined_channel',
		joined(conversation('C01'), ['U02', 'U03'], BEGIN + 1, 0),
	);
	expect(published.filter((one) => !one.endsWith(': joined'))).toEqual([
		'user:U02: U02',
		'live:C01: U02 but U02',
		'user:U03: U03',
		'live:C01: U03 but U03',
	]);
});
