import { expect } from 'bun:test';
import type { ClientOptions, TidemarkClient } from '../../../client/src/index.ts';
import { createClient } from '../../../client/src/index.ts';
import type { Person } from '../people.ts';
import { freshCounts, shownCounts } from './shown.ts';

export { freshCounts, shownCounts };

/** Clients of the SDK against a test server, and what they have to agree with. */

export const sdk = (url: string, person: Person, options: Partial<ClientOptions> = {}): TidemarkClient =>
	createClient({ url, token: person.token, ...options });

/** The law: what the client shows is what the server answers to whoever asks anew. */
export async function expectExact(client: TidemarkClient, person: Person): Promise<void> {
	await client.settled();
	expect(shownCounts(client)).toEqual(await freshCounts(person));
	expect(client.badge.getSnapshot()).toBe(client.getSnapshot().badge);
}
