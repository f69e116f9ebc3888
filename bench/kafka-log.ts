// What the log costs on Kafka: appends acknowledged per second, and how long a record takes from its append to the
// consumer on an otherwise idle machine. TIDEMARK_TEST_KAFKA_BROKERS names the broker (scripts/services up kafka); LINGER_MS
// is how long the producer waits for more records (default: 0).

import { openKafkaLogs } from '../src/engine/cluster/kafka/open.ts';
import type { CommandRecord } from '../src/engine/ports/log.ts';

const brokers = process.env.TIDEMARK_TEST_KAFKA_BROKERS?.split(',');
if (!brokers)
	throw new Error(
		'TIDEMARK_TEST_KAFKA_BROKERS is not set: run `scripts/services up kafka`, and set the variable to the address that it prints',
	);
const lingerMs = Number(process.env.LINGER_MS ?? 0);
const SINGLES = 1000;
const LOAD_MS = 5000;
const WRITERS = 500;
const TEXT = 'x'.repeat(200);

const logs = await openKafkaLogs({
	brokers,
	prefix: `bench-${process.pid}-`,
	partitions: 8,
	replication: 1,
	lingerMs,
	report: (error, about) => console.error(about, error),
});

const record = (conversation: string, request: number): CommandRecord => ({
	command: {
		conversation,
		actor: 'U01',
		team: 'T01',
		at: 1,
		action: {
			type: 'post',
			content: { text: TEXT, extra: null },
			threadTs: null,
			broadcast: false,
			clientMsgId: null,
		},
	},
	replyTo: { gateway: 'g', request },
});

const sentAt = new Map<number, number>();
const latencies: number[] = [];
const acks: number[] = [];
let consumed = 0;
const ready = Promise.withResolvers<void>();
logs.commands.consume(
	async (batch) => {
		const now = performance.now();
		for (const { replyTo } of batch) {
			consumed += 1;
			const at = sentAt.get(replyTo.request);
			if (at !== undefined) latencies.push(now - at);
		}
	},
	{ progress: async () => 0, onAssigned: () => ready.resolve() },
);
await ready.promise;
await Bun.sleep(500);

const quantile = (values: number[], q: number): string =>
	(values.sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * q))] ?? 0).toFixed(2);

for (let request = 0; request < SINGLES; request += 1) {
	const at = performance.now();
	sentAt.set(request, at);
	await logs.commands.append(record(`C${request % 50}`, request));
	acks.push(performance.now() - at);
	await Bun.sleep(3);
}
await Bun.sleep(300);
console.log(
	`linger ${lingerMs} ms, one at a time: acked median ${quantile(acks, 0.5)} ms, p99 ${quantile(acks, 0.99)} ms; ` +
		`append to consume median ${quantile(latencies, 0.5)} ms, p99 ${quantile(latencies, 0.99)} ms (${latencies.length})`,
);

let acked = 0;
const began = performance.now();
const before = consumed;
await Promise.all(
	Array.from({ length: WRITERS }, async (_, writer) => {
		while (performance.now() - began < LOAD_MS) {
			await logs.commands.append(record(`C${writer}`, -1));
			acked += 1;
		}
	}),
);
const seconds = (performance.now() - began) / 1000;
while (consumed - before < acked && performance.now() - began < LOAD_MS * 2) await Bun.sleep(10);
console.log(
	`${WRITERS} writers: ${Math.round(acked / seconds)} appends acked per second; consumed ${consumed - before} of ${acked}`,
);
await logs.close();
process.exit(0);
