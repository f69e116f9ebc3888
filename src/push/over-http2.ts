import type { CachedToken } from './cached-token.ts';
import { type Http2Host, RequestRejected } from './http2-host.ts';
import type { PushOutcome } from './provider.ts';

/** Shared by providers that use HTTP/2 and a token. */

/** Sends items one after the other until one is not accepted; its outcome is the result. */
export async function sendAll<Item>(
	items: Iterable<Item>,
	send: (item: Item) => Promise<PushOutcome>,
): Promise<PushOutcome> {
	for (const item of items) {
		const outcome = await send(item);
		if (outcome.type !== 'accepted') return outcome;
	}
	return { type: 'accepted' };
}

/** Maps an error to an outcome: a rejected request costs the device an attempt, an unreachable host affects all. */
export const outcomeOfFailure = (error: unknown): PushOutcome => ({
	type: error instanceof RequestRejected ? 'busy' : 'unavailable',
	error: (error as Error).message,
});

/** Checks that the token is valid and the host reachable: null, or the error. */
export async function checkReach(token: CachedToken, host: Http2Host): Promise<string | null> {
	try {
		await token.get();
		await host.reach();
		return null;
	} catch (error) {
		return (error as Error).message;
	}
}
