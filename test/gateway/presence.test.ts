import { expect, test } from 'bun:test';
import { MemoryBus } from '../../src/engine/embedded/memory-bus.ts';
import { MemoryPresence } from '../../src/engine/embedded/memory-presence.ts';
import { Presence } from '../../src/gateway/socket/presence.ts';
import type { ReadState } from '../../src/unread/read-state.ts';

/** Two gateways that look at one user at once leave the read state with what is. */

function scene() {
	const sessions = new MemoryPresence();
	const bus = new MemoryBus();
	const told: string[] = [];
	bus.subscribe('presence:U1', (message) => {
		if (message.type === 'event') told.push(JSON.parse(message.frame).presence);
	});
	let active = false;
	/** What holds a gateway up between looking and setting. */
	let beforeSet: () => Promise<void> = async () => undefined;
	const readState = {
		setActive: async (_user: string, isActive: boolean) => {
			const hold = beforeSet;
			beforeSet = async () => undefined;
			await hold();
			active = isActive;
		},
	} as unknown as ReadState;
	const gateway = () => new Presence(bus, sessions, readState);
	return {
		sessions,
		told,
		gateway,
		isActive: () => active,
		holdNext: (work: () => Promise<void>) => {
			beforeSet = work;
		},
	};
}

test('who connects elsewhere while it is noted that the last socket here ended is active', async () => {
	const { sessions, gateway, told, isActive, holdNext } = scene();
	await sessions.connected('U1', 'a');
	await sessions.disconnected('U1', 'a');
	holdNext(async () => {
		await sessions.connected('U1', 'b');
		await gateway().review('U1');
	});
	await gateway().review('U1');
	expect(isActive()).toBe(true);
	expect(told.at(-1)).toBe('active');
});

test('who leaves elsewhere while it is noted that it came is not', async () => {
	const { sessions, gateway, told, isActive, holdNext } = scene();
	await sessions.connected('U1', 'a');
	holdNext(async () => {
		await sessions.disconnected('U1', 'a');
		await gateway().review('U1');
	});
	await gateway().review('U1');
	expect(isActive()).toBe(false);
	expect(told.at(-1)).toBe('away');
});

test('who comes and goes without end holds nobody up', async () => {
	const { sessions, gateway } = scene();
	let looks = 0;
	sessions.isActive = async () => {
		looks += 1;
		return looks % 2 === 0;
	};
	await gateway().review('U1');
	expect(looks).toBeLessThan(50);
});
