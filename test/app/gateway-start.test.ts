import { expect, test } from 'bun:test';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { readConfig } from '../../src/app/config.ts';
import { type GatewayEngine, openEmbeddedEngine } from '../../src/app/engine.ts';
import { startGateway } from '../../src/app/gateway.ts';
import { ServerOperations } from '../../src/app/operations.ts';
import { EVERY_GATEWAY } from '../../src/engine/ports/bus.ts';
import { nextTurn } from '../../src/model/next-turn.ts';

/** What a gateway does, and does not do yet, while it starts: here its bus takes a while to be ready. */

test('a starting gateway delivers events to apps once it listens, and handles changes of presence at once', async () => {
	const dataDir = await mkdtemp(join(tmpdir(), 'tidemark-start-'));
	const embedded = await openEmbeddedEngine(dataDir);
	const log = pino({ level: 'silent' });
	const config = readConfig({ port: '0', host: '127.0.0.1', 'data-dir': dataDir }, {});
	const steps: string[] = [];
	const presenceListeners: ((user: string) => Promise<void>)[] = [];
	const bus = Object.assign(Object.create(embedded.bus), {
		ready: async () => {
			embedded.bus.publish(EVERY_GATEWAY, { type: 'app_changed', app: 'A1' });
			await nextTurn();
			for (const listener of presenceListeners) {
				await listener('U1');
				steps.push('presence');
			}
			steps.push('ready');
		},
	});
	const all: GatewayEngine['store']['apps']['all'] = (after, limit) => {
		steps.push('delivery');
		return embedded.store.apps.all(after, limit);
	};
	const engine: GatewayEngine = {
		...embedded,
		store: { ...embedded.store, apps: { ...embedded.store.apps, all } },
		bus,
		onPresence: (listener) => void presenceListeners.push(listener),
	};
	try {
		const gateway = await startGateway({
			config,
			adminToken: 'administrator-of-the-tests',
			vapidKey: null,
			log,
			engine,
			contents: null,
			operations: new ServerOperations(log, 'server'),
		});
		expect(steps.slice(0, 3)).toEqual(['presence', 'ready', 'delivery']);
		await gateway.stop();
	} finally {
		await embedded.close();
		await rm(dataDir, { recursive: true });
	}
}, 30_000);
