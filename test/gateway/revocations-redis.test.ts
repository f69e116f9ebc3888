import { afterEach, describe, expect, test } from 'bun:test';
import { RedisBus } from '../../src/engine/cluster/redis/bus.ts';
import { Keys } from '../../src/engine/cluster/redis/keys.ts';
import type { Authenticator } from '../../src/gateway/auth/authenticator.ts';
import { publishRevocation, subscribeToRevocations } from '../../src/gateway/auth/revocations.ts';
import { hashToken, newToken } from '../../src/gateway/auth/tokens.ts';
import { connectBoth, LAYOUTS, redisPlace } from '../support/redis.ts';
import { authenticator, HandClock, random, rejectionOf, SmallDirectory, userNamed } from './support.ts';

/** A token that is revoked at one gateway is cached at none. */

const closing: (() => void)[] = [];
afterEach(() => {
	for (const close of closing.splice(0)) close();
});

const isAdmitted = async (auth: Authenticator, token: string): Promise<boolean> => {
	try {
		await auth.identify(token);
		return true;
	} catch {
		return false;
	}
};

for (const layout of LAYOUTS) {
	describe(`revocations on ${layout}`, () => {
		const gateway = async (directory: SmallDirectory, place = redisPlace(layout)) => {
			const { commands, subscriber, close } = await connectBoth(place);
			const hooks = { onGap: () => undefined, onError: console.error };
			const bus = new RedisBus(commands, subscriber, new Keys(place.prefix), hooks);
			const auth = authenticator(directory, new HandClock());
			closing.push(
				subscribeToRevocations(bus, auth, { forgetUser: () => undefined, forgetAll: () => undefined }),
				() => {
					bus.close();
					close();
				},
			);
			await bus.ready();
			return { bus, auth, place };
		};

		test('reach every gateway, and affect only the revoked token', async () => {
			const user = userNamed('U1');
			const [revoked, other] = [newToken(false, random), newToken(false, random)];
			const directory = new SmallDirectory().add(user, revoked).add(user, other);
			const here = await gateway(directory);
			const there = await gateway(directory, here.place);
			for (const token of [revoked, other]) await there.auth.identify(token);
			directory.keep(revoked, user, 1);
			// Still cached: no gateway has published the revocation.
			await there.auth.identify(revoked);
			publishRevocation(here.bus, hashToken(revoked), user.id);
			for (let tries = 0; tries < 500 && (await isAdmitted(there.auth, revoked)); tries += 1)
				await Bun.sleep(10);
			expect(await rejectionOf(() => there.auth.identify(revoked))).toBe('token_revoked');
			const { asked } = directory;
			await there.auth.identify(other);
			expect(directory.asked).toBe(asked);
		});
	});
}
