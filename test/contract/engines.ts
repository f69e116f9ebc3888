import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Engine, type GatewayEngine, openEmbeddedEngine } from '../../src/app/engine.ts';
import { type PortsDriver, portsDriver } from '../support/ports-driver.ts';

/**
 * The engines that the contract suites run on, composed as they ship. Each opens in its own place and can be opened
 * there again. The cluster's engine is in test/support/cluster-engine.ts.
 */

export interface EnginePlace<E extends GatewayEngine = Engine> {
	open(): Promise<E>;
	remove(): Promise<void>;
}

export interface TestedEngine<E extends GatewayEngine = Engine> {
	readonly name: string;
	place(): Promise<EnginePlace<E>>;
	/** Starts the worker too, if it is not running yet. */
	drive(engine: E): PortsDriver;
}

export const embedded: TestedEngine = {
	name: 'embedded',
	drive: portsDriver,
	place: async () => {
		const dataDir = await mkdtemp(join(tmpdir(), 'tidemark-engine-'));
		return {
			open: () => openEmbeddedEngine(dataDir),
			remove: () => rm(dataDir, { recursive: true, force: true }),
		};
	},
};
