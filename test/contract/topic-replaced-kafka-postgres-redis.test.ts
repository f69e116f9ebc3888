import { afterEach, expect, test } from 'bun:test';
import { Admin } from '@platformatic/kafka';
import { eventually } from '../support/eventually.ts';
import { kafkaBrokers } from '../support/kafka.ts';
import { until } from '../support/log/records.ts';
import { type LoneWorker, loneWorker } from '../support/lone-worker.ts';
import { conversation, created } from '../support/store/facts.ts';

/** A topic is deleted and created again: stored offsets of the old topic are not applied to the new one. */

const WITHIN_MS = 60_000;
const post = (text: string) =>
	({
		type: 'post',
		content: { text, extra: null },
		threadTs: null,
		broadcast: false,
		clientMsgId: null,
	}) as const;
let lone: LoneWorker;
afterEach(() => lone.close(), 60_000);

async function createAgain(topic: string): Promise<void> {
	const admin = new Admin({ clientId: 'test', bootstrapBrokers: [...kafkaBrokers()] });
	await admin.deleteTopics({ topics: [topic] });
	await eventually(() => admin.createTopics({ topics: [topic], partitions: 1, replicas: 1 }), WITHIN_MS);
	await admin.close();
}

test('the partition stalls and reports what to do; afterwards the new topic is read from its start', async () => {
	const stalled = new Map<string, string>();
	lone = await loneWorker({
		watch: {
			onStalled: (partition, { message }) => void stalled.set(partition, message),
			onResumed: (partition) => void stalled.delete(partition),
		},
	});
	const { worker, epochs, answers, store, partition } = lone;
	await store.ledger.commit([created(conversation('C01'), ['U01', 'U02'])]);
	await epochs.clear();
	await epochs.begin(() => 1);
	worker.start();
	worker.resume();
	for (const text of ['one', 'two']) await lone.append('C01', post(text));
	await until(() => answers.size === 2, 'both are answered');
	await eventually(async () => expect(await store.nextOffset(partition)).toBe(2), WITHIN_MS);
	expect(await store.logIdOf(partition)).not.toBeNull();

	await createAgain(partition.slice(0, partition.lastIndexOf('/')));
	// More records than the stored offset of the old topic.
	const sent: number[] = [];
	for (const text of ['three', 'four', 'five'])
		sent.push(await eventually(() => lone.append('C01', post(text)), WITHIN_MS));
	await until(() => stalled.has(partition), 'the partition to be stalled', WITHIN_MS);
	expect(stalled.get(partition)).toContain('was deleted and created again');
	expect(stalled.get(partition)).toContain('`tidemark doctor` says how');
	expect(answers.size).toBe(2);
	expect(await store.nextOffset(partition)).toBe(2);

	await lone.forgetProgress();
	await until(() => sent.every((request) => answers.has(request)), 'all are answered', WITHIN_MS);
	expect(stalled.size).toBe(0);
}, 300_000);
