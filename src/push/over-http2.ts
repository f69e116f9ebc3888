import type { CachedToken } from './cached-token.ts';
import { type Http2Host, RequestRejected } from './http2-host.ts';
import type { Outcome } from './provider.ts';

/** What providers that are spoken to over HTTP/2 with a token have in common. */

/** Sends one after the other, until one is not accepted: its outcome is that of all. */
export async function sendAll<Item>(
	items: Iterable<Item>,
	send: (item: Item) => Promise<Outcome>,
): Promise<Outcome> {
	for (const item of items) {
		const outcome = await send(item);
		if (outcome.type !== 'accepted') return outcome;
	}
	return { type: 'accepted' };
}

/** What a failure to send means: for the device alone, or for everybody. A rejected request uses up a try. */
export const outcomeOfFailure = (error: unknown): Outcome => ({
	type: error instanceof RequestRejected ? 'busy' : 'away',
	error: (error as Error).message,
});

/** Whether anything could be sent: null, or what is wrong. */
export async function checkReach(token: CachedToken, host: Http2Host): Promise<string | null> {
	try {
		await token.get();
		await host.reach();
		return null;
	} catch (error) {
		return (error as Error).message;
	}
}
