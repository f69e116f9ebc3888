import { expect, test } from 'bun:test';
import { MemoryBus } from '../../src/engine/embedded/memory-bus.ts';
import { type BusMessage, EVERY_GATEWAY } from '../../src/engine/ports/bus.ts';
import { onUnpublishedChanges } from '../../src/gateway/bus-gaps.ts';
import { eventually } from '../support/eventually.ts';

for (const type of ['missed', 'lost'] as const)
	test(`a gateway resets once for several messages that say ${type}`, async () => {
		const bus = new MemoryBus();
		let resets = 0;
		onUnpublishedChanges(bus, () => {
			resets += 1;
		});
		const message: BusMessage = { type };
		for (let count = 0; count < 3; count += 1) bus.publish(EVERY_GATEWAY, message);
		await eventually(async () => expect(resets).toBe(1));
	});
