import { test } from 'bun:test';
import { setStage } from '../support/chaos/stage.ts';

/** What a cluster stands on goes away under load and comes back: nothing that was acknowledged is lost. */

const stage = setStage('postgres', 'kafka');
const AWAY_MS = 10_000;

test('PostgreSQL is away for a while; what is loaded goes on', () =>
	stage.underLoad('PostgreSQL away', async (load) => {
		await stage.services.stop('postgres', 'crash');
		await load.acknowledged(200);
		for (let number = 0; number < 20; number += 1) await stage.sendTwice(`while-away-${number}`);
		await Bun.sleep(AWAY_MS);
		await stage.services.start('postgres');
	}));

test('Kafka is killed and started again', () =>
	stage.underLoad('Kafka killed', async () => {
		await stage.services.stop('kafka', 'crash');
		await stage.services.start('kafka');
	}));
