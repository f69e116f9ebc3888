import { expect, test } from 'bun:test';
import { MemoryBus } from '../../src/engine/embedded/memory-bus.ts';
import type { BusMessage } from '../../src/engine/ports/bus.ts';
import { deliver } from '../../src/worker/delivery.ts';
import { BEGIN, conversation, joined } from '../support/store/facts.ts';

/** Applications greet when they are added: who joins hears of it, also where it does not hear the others yet. */

test('who joins is told of it directly, the others over the conversation', () => {
	const bus = new MemoryBus();
	const told: string[] = [];
	const note = (whom: string) => (message: BusMessage) => {
		if (message.type !== 'event') return;
		const { type, user } = JSON.parse(message.frame);
		if (type === 'member_joined_channel')
			told.push(`${whom}: ${user}${message.exceptUser === undefined ? '' : ` but ${message.exceptUser}`}`);
	};
	for (const topic of ['live:C01', 'user:U02', 'user:U03'] as const) bus.subscribe(topic, note(topic));
	deliver(joined(conversation('C01'), ['U02', 'U03'], BEGIN + 1, 0), bus);
	expect(told).toEqual(['user:U02: U02', 'live:C01: U02 but U02', 'user:U03: U03', 'live:C01: U03 but U03']);
});
