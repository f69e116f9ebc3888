import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbeddedEngine } from '../../src/app/engine.ts';
import { portsDriver } from '../support/ports-driver.ts';
import { changeDirectly } from '../support/store/direct-change.ts';
import { describeConcurrentDevices } from './concurrent-contract.ts';
import { embedded } from './engines.ts';
import { describeRepair } from './repair-contract.ts';

/** Changes the database without the engine's knowledge, so that the engine's memory differs from the database. */
describeRepair({
	name: 'embedded',
	open: async () => {
		const dataDir = await mkdtemp(join(tmpdir(), 'tidemark-repair-'));
		const engine = await openEmbeddedEngine(dataDir);
		const change = async (sql: string, ...params: (string | number)[]) =>
			changeDirectly(dataDir, sql, ...params);
		const lose = (conversation: string, ts: number) =>
			change('DELETE FROM messages WHERE conversation = ? AND ts = ?', conversation, ts);
		return {
			engine,
			driver: portsDriver(engine),
			damage: {
				loseMessage: lose,
				loseReply: (conversation, _, ts) => lose(conversation, ts),
				moveCursor: (user, conversation, cursor) =>
					change(
						'UPDATE members SET cursor = ? WHERE user_id = ? AND conversation = ?',
						cursor,
						user,
						conversation,
					),
			},
			remove: () => rm(dataDir, { recursive: true }),
		};
	},
});

describeConcurrentDevices(embedded, { seeds: [6], operationsPerDevice: 200, repairing: true });
