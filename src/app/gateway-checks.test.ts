import { expect, test } from 'bun:test';
import { MemoryBus } from '../engine/embedded/memory-bus.ts';
import { MemoryPresence } from '../engine/embedded/memory-presence.ts';
import type { Connection } from '../gateway/socket/connection.ts';
import { Presence } from '../gateway/socket/presence.ts';
import { Rejection } from '../model/errors.ts';
import { type GatewayCheckParts, startChecks } from './gateway-checks.ts';

const quiet: GatewayCheckParts = {
	auth: { sweep: () => undefined },
	presence: { settle: async () => undefined },
	tokenUses: { flush: async () => undefined },
	hub: { connections: () => [] },
	verifier: { verifySome: async () => undefined as never },
	failed: () => undefined,
};

test('a change of presence that could not be stored is stored by a later check', async () => {
	let failures = 3;
	const stored = Promise.withResolvers<boolean>();
	const setActive = async (_: string, isActive: boolean): Promise<void> => {
		failures -= 1;
		if (failures >= 0) throw new Rejection('service_unavailable');
		stored.resolve(isActive);
	};
	const presence = new Presence(new MemoryBus(), new MemoryPresence(), { setActive });
	await expect(presence.connected({ user: 'U1', id: 'a' } as Connection)).rejects.toThrow(
		'service_unavailable',
	);
	const checks = startChecks({ ...quiet, presence }, 1);
	expect(await stored.promise).toBe(true);
	checks.stop();
}, 10_000);

test('a check that fails is reported and repeated, and one that never ends delays no other', async () => {
	const reported: string[] = [];
	let flushes = 0;
	const repeated = Promise.withResolvers<void>();
	const checks = startChecks(
		{
			...quiet,
			presence: { settle: () => new Promise(() => undefined) },
			tokenUses: {
				flush: async () => {
					flushes += 1;
					if (flushes === 2) repeated.resolve();
					throw new Error('broken');
				},
			},
			failed: (about) => reported.push(about),
		},
		1,
	);
	await repeated.promise;
	checks.stop();
	expect(reported).toContain('recording when tokens were used');
});
