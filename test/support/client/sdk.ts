import { expect } from 'bun:test';
import { type ClientOptions, createClient, type TidemarkClient } from '../../../client/src/index.ts';
import type { Person } from '../people.ts';
import { freshCounts, shownCounts } from './shown.ts';

/** Clients of the SDK against a test server, and the state that they must have. */

export const sdk = (url: string, person: Person, options: Partial<ClientOptions> = {}): TidemarkClient =>
	createClient({ url, token: person.token, ...options });

/** The law: the client's state equals the server's answer to a fresh request. */
export async function expectExact(client: TidemarkClient, person: Person): Promise<void> {
	await client.settled();
	expect(shownCounts(client)).toEqual(await freshCounts(person));
	expect(client.badge.getSnapshot()).toBe(client.getSnapshot().badge);
}
