import { test } from 'bun:test';
import { setStage } from '../support/chaos/stage.ts';
import type { Role } from '../support/cluster.ts';

/**
 * An upgrade under load: each process is replaced by a new one, and exits cleanly. Nothing is lost, and requests are
 * rejected only with retryable errors.
 */

const stage = setStage();

async function replaceAll(role: Role): Promise<void> {
	const { cluster } = stage;
	for (const old of role === 'gateway' ? cluster.gateways : cluster.workers) {
		await cluster.add(role);
		await cluster.end(old, 'SIGTERM');
	}
}

for (const role of ['gateway', 'worker'] as const)
	test(`every ${role} is replaced, one after the other`, () =>
		stage.underLoad(`${role}s replaced`, () => replaceAll(role)));
