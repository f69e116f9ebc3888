import { type KafkaLogs, type KafkaLogsOptions, openKafkaLogs } from '../../src/engine/cluster/kafka/open.ts';

/** The Kafka that tests run on. Without one they fail: an untested engine must not look tested. */

export const KAFKA_VARIABLE = 'TIDEMARK_TEST_KAFKA_BROKERS';

const HOW = 'Start one with scripts/services up kafka, or run the tests with npm test, which does.';

export function kafkaBrokers(): readonly string[] {
	const brokers = process.env[KAFKA_VARIABLE];
	if (!brokers) throw new Error(`${KAFKA_VARIABLE} is not set: there is no Kafka to test on. ${HOW}`);
	return brokers.split(',');
}

let places = 0;

/** Separate topics and groups. To Kafka, each `open` looks like another process. */
export function kafkaPlace(options: Partial<KafkaLogsOptions> = {}) {
	places += 1;
	const prefix = `test-${process.pid}-${Date.now()}-${places}-`;
	const opened: KafkaLogs[] = [];
	return {
		prefix,
		/** The name of a partition in the store. */
		partition: (topic: 'conversations' | 'users', number: number): string => `${prefix}${topic}/${number}`,
		async open(more: Partial<KafkaLogsOptions> = {}): Promise<KafkaLogs> {
			const logs = await openKafkaLogs({
				brokers: options.brokers ?? kafkaBrokers(),
				prefix,
				partitions: 4,
				replication: 1,
				sessionMs: 6000,
				...options,
				...more,
			});
			opened.push(logs);
			return logs;
		},
		async close(): Promise<void> {
			await Promise.all(opened.map((logs) => logs.close()));
		},
	};
}
