import { expect, test } from 'bun:test';
import { appsAt } from '../../src/app/apps.ts';
import { readConfig } from '../../src/app/config.ts';
import type { GatewayEngine } from '../../src/app/engine.ts';
import type { ServerOperations } from '../../src/app/operations.ts';
import { MemoryBus } from '../../src/engine/embedded/memory-bus.ts';
import { EVERY_GATEWAY } from '../../src/engine/ports/bus.ts';
import type { Admission } from '../../src/engine/ports/tickets.ts';
import type { Socket } from '../../src/gateway/socket/connection.ts';
import { eventually } from '../support/eventually.ts';

/** How a gateway of a cluster passes an app to another one: the gateway that delivers to the app holds its lease. */

const APP = {
	id: 'A1',
	team: 'T1',
	botUser: 'UBOT',
	manifest: JSON.stringify({
		display_information: { name: 'Harbour' },
		settings: { event_subscriptions: { bot_events: ['message.channels'] }, socket_mode_enabled: true },
	}),
	updatedTs: 1,
	eventsSinceTs: 0,
	addedEvents: {},
	pausedAt: 0,
};

async function scene() {
	const steps: string[] = [];
	const nothing = async () => undefined;
	const bus = new MemoryBus();
	bus.subscribe(EVERY_GATEWAY, ({ type }) => void steps.push(type));
	const apps = {
		all: async () => ({ items: [APP], next: null }),
		app: async () => APP,
		token: async () => ({ revokedTs: 0 }),
		tokensOf: async () => [],
		socketOpened: async () => 1,
		socketClosed: nothing,
		removeSockets: nothing,
		lease: async () => {
			if (!steps.includes('leased')) steps.push('leased');
			return true;
		},
		release: async () => void steps.push('released'),
		cursors: async () => new Map(),
		advance: nothing,
	};
	const directory = { conversationsOf: async () => ({ items: [], next: null }) };
	const store = { apps, directory, workspaceChanges: {}, source: {}, changes: {}, history: {} };
	const engine = { name: 'cluster', gateway: 'N1', store, bus } as unknown as GatewayEngine;
	const operations = {
		failed: (_: string, error: unknown) => steps.push(String(error)),
		warn: (line: string) => steps.push(line),
		gauge: () => undefined,
	} as unknown as ServerOperations;
	const running = appsAt(engine, readConfig({}, {}), operations, () => 'http://localhost');
	await running.open();
	running.startDelivery();
	const socket = { send: () => 1, ping: () => 1, close: () => undefined } as unknown as Socket;
	const opened = running.sockets.open(socket, { app: APP.id, tokenKey: 'key' } as Admission);
	await eventually(async () => expect(steps).toEqual(['leased']), 10_000);
	return { running, opened, steps };
}

test('a gateway that loses the last socket of an app releases its lease, then publishes that', async () => {
	const { running, opened, steps } = await scene();
	opened.close();
	running.sockets.closed(opened);
	await eventually(async () => expect(steps).toEqual(['leased', 'released', 'app_changed']), 10_000);
	await running.stop();
}, 30_000);

test('a gateway that stops does so too, before it has stopped', async () => {
	const { running, steps } = await scene();
	await running.stop();
	await running.sockets.stop();
	expect(steps).toEqual(['leased', 'released', 'app_changed']);
}, 30_000);
