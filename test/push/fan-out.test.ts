import { expect, test } from 'bun:test';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteStore } from '../../src/engine/embedded/sqlite/open.ts';
import { FanOut, MEMBERS_PER_PAGE } from '../../src/push/fan-out.ts';
import { Standings } from '../../src/push/standing.ts';
import { BEGIN, conversation, created, message, posted } from '../support/store/facts.ts';

/** A message to very many is gone through page by page, and others have their turn in between. */

const MEMBERS = 3_600;
const DEVICES = 3_000;
const name = (number: number): string => `U${String(number).padStart(5, '0')}`;

test.each(['devices', 'members'] as const)(
	'a call to all of a large channel delays no direct message (%s)',
	async (by) => {
		const directory = await mkdtemp(join(tmpdir(), 'tidemark-push-'));
		const store = await openSqliteStore(directory, { push: true });
		const { outbox, devices } = store.push;
		try {
			const people = Array.from({ length: MEMBERS }, (_, number) => name(number));
			const large = { ...conversation('C01'), memberCount: by === 'devices' ? MEMBERS : DEVICES };
			const direct = { ...conversation('D01'), kind: 'im' as const, name: '', memberCount: 2 };
			const withDevices = people.slice(0, DEVICES);
			await Promise.all(
				withDevices.map((user) =>
					devices.add({ id: `P${user}`, user, platform: 'apns', token: user, app: '', addedTs: BEGIN }),
				),
			);
			const inside = by === 'devices' ? people : withDevices;
			await store.ledger.commit([
				created(large, inside, BEGIN),
				created(direct, [name(0), name(DEVICES - 1)], BEGIN),
				posted(large, message('C01', BEGIN + 1, { user: name(0), channelWide: true })),
				posted(direct, message('D01', BEGIN + 2, { user: name(0) })),
			]);
			let leases = 0;
			const fanOut = new FanOut({
				outbox,
				history: store.history,
				directory: store.directory,
				sessions: { activeAmong: async () => new Set() },
				// Nothing here asks for it: no message is a <!here>.
				standings: new Standings(undefined as never),
				nowMs: () => Date.now(),
				delayMs: 1_000,
				newLease: () => {
					leases += 1;
					return `lease-${leases}`;
				},
			});
			await fanOut.round();
			const first = await outbox.sizes();
			// The direct message is done, and one page of the large channel at most.
			expect(first.pending).toBeGreaterThan(1);
			expect(first.pending).toBeLessThanOrEqual(MEMBERS_PER_PAGE + 1);
			const lease = { id: 'look', now: Date.now(), until: Date.now(), limit: 10_000 };
			const taken = await outbox.takeSends(lease);
			expect(taken.filter(({ conversation: of }) => of === 'D01')).toHaveLength(1);
			let rounds = 1;
			while ((await fanOut.round()) > 0) rounds += 1;
			expect(rounds).toBeGreaterThanOrEqual(DEVICES / MEMBERS_PER_PAGE);
			// Everybody but the author, and the direct message.
			expect((await outbox.sizes()).pending).toBe(DEVICES - 1 + 1);
		} finally {
			await store.close();
			await rm(directory, { recursive: true });
		}
	},
);
