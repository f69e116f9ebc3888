import { expect, test } from 'bun:test';
import { MemoryBus } from '../../src/engine/embedded/memory-bus.ts';
import { MemoryPresence } from '../../src/engine/embedded/memory-presence.ts';
import type { Connection } from '../../src/gateway/socket/connection.ts';
import { Presence } from '../../src/gateway/socket/presence.ts';
import { Rejection } from '../../src/model/errors.ts';

/** The read state ends up with the right presence, if two gateways update a user at once and if an update fails. */

function scene() {
	const sessions = new MemoryPresence();
	const bus = new MemoryBus();
	const published: string[] = [];
	bus.subscribe('presence:U1', (message) => {
		if (message.type === 'event') published.push(JSON.parse(message.frame).presence);
	});
	let active = false;
	/** Delays a gateway between reading and writing. */
	let beforeSet: () => Promise<void> = async () => undefined;
	const reads = {
		setActive: async (_user: string, isActive: boolean) => {
			const hold = beforeSet;
			beforeSet = async () => undefined;
			await hold();
			active = isActive;
		},
	};
	const gateway = () => new Presence(bus, sessions, reads);
	return {
		sessions,
		published,
		gateway,
		isActive: () => active,
		holdNext: (work: () => Promise<void>) => {
			beforeSet = work;
		},
	};
}

test('if a user connects elsewhere while the end of the last socket here is being recorded, the user ends up active', async () => {
	const { sessions, gateway, published, isActive, holdNext } = scene();
	await sessions.connected('U1', 'a');
	await sessions.disconnected('U1', 'a');
	holdNext(async () => {
		await sessions.connected('U1', 'b');
		await gateway().refresh('U1');
	});
	await gateway().refresh('U1');
	expect(isActive()).toBe(true);
	expect(published.at(-1)).toBe('active');
});

test('if a user disconnects elsewhere while a connect here is being recorded, the user ends up inactive', async () => {
	const { sessions, gateway, published, isActive, holdNext } = scene();
	await sessions.connected('U1', 'a');
	holdNext(async () => {
		await sessions.disconnected('U1', 'a');
		await gateway().refresh('U1');
	});
	await gateway().refresh('U1');
	expect(isActive()).toBe(false);
	expect(published.at(-1)).toBe('away');
});

test('a user who connects and disconnects endlessly delays nobody', async () => {
	const { sessions, gateway } = scene();
	let looks = 0;
	sessions.isActive = async () => {
		looks += 1;
		return looks % 2 === 0;
	};
	await gateway().refresh('U1');
	expect(looks).toBeLessThan(50);
});

const failOnce = async (): Promise<void> => {
	throw new Rejection('service_unavailable');
};

test('a user who sets themselves to away again after a failure is stored as away', async () => {
	const { sessions, gateway, published, isActive, holdNext } = scene();
	const presence = gateway();
	await sessions.connected('U1', 'a');
	await presence.refresh('U1');
	holdNext(failOnce);
	await expect(presence.setAway('U1', true)).rejects.toThrow('service_unavailable');
	expect(isActive()).toBe(true);
	await presence.setAway('U1', true);
	expect(isActive()).toBe(false);
	expect(published).toEqual(['active', 'away']);
});

test('a failed update is repeated until it succeeds, and then no more', async () => {
	const { sessions, gateway, published, isActive, holdNext } = scene();
	const presence = gateway();
	await sessions.connected('U1', 'a');
	holdNext(failOnce);
	await expect(presence.refresh('U1')).rejects.toThrow('service_unavailable');
	holdNext(failOnce);
	await expect(presence.settle()).rejects.toThrow('service_unavailable');
	expect(isActive()).toBe(false);
	await presence.settle();
	expect(isActive()).toBe(true);
	await presence.settle();
	expect(published).toEqual(['active']);
});

test('a user whose connection the presence store had already lost ends up inactive', async () => {
	const { sessions, gateway, isActive } = scene();
	const presence = gateway();
	const connection = { user: 'U1', id: 'a' } as Connection;
	await presence.connected(connection);
	expect(isActive()).toBe(true);
	// As after Redis was emptied.
	await sessions.disconnected('U1', 'a');
	await presence.disconnected(connection);
	expect(isActive()).toBe(false);
});
