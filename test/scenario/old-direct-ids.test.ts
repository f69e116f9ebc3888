import { expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { openSqliteStore } from '../../src/engine/embedded/sqlite/open.ts';
import { directId } from '../../src/model/ids.ts';
import { client } from '../support/api.ts';
import { makeWorkspace, type Person } from '../support/people.ts';
import { testServerProcess, withDirectory } from '../support/process.ts';
import { conversation, created } from '../support/store/facts.ts';

/** Direct messages from an earlier version have ids that follow from their members alone, and keep them. */

const sha256 = (text: string) => createHash('sha256').update(text).digest();

test('a direct message from an earlier version is opened under its old id', () =>
	withDirectory(async (directory) => {
		const first = await testServerProcess(directory);
		const { team, people } = await makeWorkspace(first.url, 3);
		const [ada, bob, carl] = people as [Person, Person, Person];
		await first.end('SIGTERM');

		const both = [ada.id, bob.id].sort();
		const id = directId('im', team, both, sha256);
		const store = await openSqliteStore(directory);
		const direct = conversation(id, { team, kind: 'im', name: '', creator: ada.id, people: both });
		await store.ledger.commit([created(direct, both)]);
		await store.close();

		const second = await testServerProcess(directory);
		const open = async (who: Person, users: string) =>
			(await client(second.url, who.token)('conversations.open', { users })).channel.id;
		expect(await open(ada, bob.id)).toBe(id);
		expect(await open(bob, ada.id)).toBe(id);
		expect(await open(ada, carl.id)).not.toBe(directId('im', team, [ada.id, carl.id], sha256));
		await second.end('SIGTERM');
	}));
