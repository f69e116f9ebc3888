import { expect, test } from 'bun:test';
import { MemoryBus } from '../engine/embedded/memory-bus.ts';
import type { BusMessage } from '../engine/ports/bus.ts';
import type { CommandRecord } from '../engine/ports/log.ts';
import { Replies } from './replies.ts';

const record = (gateway: string, request: number, together: boolean): CommandRecord => ({
	command: { conversation: 'C01', actor: 'U01', team: 'T01', at: 1, action: { type: 'join' } },
	replyTo: { gateway, request, ...(together ? { together } : {}) },
});

const outcome = { ok: true, result: {} } as const;

test('a gateway that accepts batches gets one message; one of an older release gets a message per reply', () => {
	const bus = new MemoryBus();
	const received: [string, BusMessage][] = [];
	for (const topic of ['gateway:G01', 'gateway:G02'] as const)
		bus.subscribe(topic, (message) => received.push([topic, message]));
	const records = [
		record('G01', 1, true),
		record('G02', 7, false),
		record('G01', 2, true),
		record('G02', 8, false),
	];
	new Replies(bus, () => undefined).replyAll(records.map((one) => ({ record: one, outcome })));
	expect(received).toEqual([
		['gateway:G02', { type: 'reply', request: 7, outcome }],
		['gateway:G02', { type: 'reply', request: 8, outcome }],
		[
			'gateway:G01',
			{
				type: 'replies',
				replies: [
					{ request: 1, outcome },
					{ request: 2, outcome },
				],
			},
		],
	]);
});
