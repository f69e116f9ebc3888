import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Engine, openEmbeddedEngine } from '../../src/app/engine.ts';

/** The engines that the contract suite runs on. Each opens on a place of its own and can be opened again there. */

export interface EnginePlace {
	open(): Promise<Engine>;
	remove(): Promise<void>;
}

export interface TestedEngine {
	readonly name: string;
	place(): Promise<EnginePlace>;
}

export const embedded: TestedEngine = {
	name: 'embedded',
	place: async () => {
		const dataDir = await mkdtemp(join(tmpdir(), 'tidemark-engine-'));
		return {
			open: () => openEmbeddedEngine(dataDir),
			remove: () => rm(dataDir, { recursive: true, force: true }),
		};
	},
};
