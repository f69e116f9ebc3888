import { expect, test } from 'bun:test';
import { newVapidKey } from '../../src/push/web/vapid.ts';
import { startCluster, type TestCluster } from '../support/cluster.ts';
import { makeWorkspace, type Person } from '../support/people.ts';
import { withDirectory } from '../support/process.ts';
import { startProviders } from './fake-providers.ts';
import { until } from './push-server.ts';

/** Workers of a cluster share the sending by leases, so that one of them may be killed. */

const PEOPLE = 100;
const MESSAGES = 30;
const ALL = PEOPLE * MESSAGES;
/** The lease of the dead worker's rows has to expire. */
const PATIENCE_MS = 110_000;

test(
	'two workers, one of them killed: no notification is lost or sent twice, and read ones are withdrawn',
	() =>
		withDirectory(async (directory) => {
			const providers = await startProviders(directory);
			Object.assign(process.env, providers.environment);
			let cluster: TestCluster | null = null;
			try {
				const { privateKey } = newVapidKey();
				cluster = await startCluster({ flags: [...providers.flags, `--vapid-private-key=${privateKey}`] });
				const { people, admin } = await makeWorkspace(cluster.url, PEOPLE + 1);
				const [author, ...others] = people as [Person, ...Person[]];
				const { channel } = await author.call('conversations.create', { name: 'everybody' });
				const users = others.map(({ id }) => id);
				await admin('admin.conversations.addMembers', { channel: channel.id, users });
				const [reader, surfer] = others as [Person, Person];
				for (const { call, name } of others.filter((one) => one !== surfer))
					await call('push.devices.add', { platform: 'apns', token: `token-${name}` });
				// One of the users has only a browser.
				const token = await providers.subscribe('browser', (await surfer.call('push.webKey')).key);
				await surfer.call('push.devices.add', { platform: 'web', token });
				let last = '';
				for (let number = 0; number < MESSAGES; number += 1) {
					last = (await author.call('chat.postMessage', { channel: channel.id, text: `${number}` })).ts;
					if (number !== MESSAGES / 2) continue;
					await until(
						() => providers.counts(),
						({ sent }) => sent > 0,
					);
					const [worker] = cluster.workers;
					if (worker) await cluster.end(worker, 'SIGKILL');
				}
				const counts = await until(
					() => providers.counts(),
					({ sent }) => sent >= ALL,
					PATIENCE_MS,
				);
				expect(counts).toMatchObject({ sent: ALL, doubled: 0 });

				for (const [who, phone] of [
					[reader, `token-${reader.name}`],
					[surfer, 'browser'],
				] as const) {
					await who.call('conversations.mark', { channel: channel.id, ts: last });
					// Notifications that the dead worker sent and did not record are withdrawn after its lease has expired.
					const after = await until(
						() => providers.phone(phone),
						({ withdrawn }) => withdrawn === MESSAGES,
						PATIENCE_MS,
					);
					expect(after).toMatchObject({ withdrawn: MESSAGES, badge: 0, shown: {} });
				}
				expect((await providers.counts()).web.wrong).toEqual([]);
				console.log(
					`push on a cluster: ${counts.sent} sent, ${counts.doubled} doubled, ${counts.repeated} repeated`,
				);
			} finally {
				await cluster?.stop();
				await providers.stop();
			}
		}),
	240_000,
);
