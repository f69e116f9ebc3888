import { bad, type Finding, ok } from './finding.ts';

/**
 * Checks that Kafka holds the log records that workers read next. PostgreSQL records the next offset and the topic id
 * of each partition; workers stall a partition if Kafka does not hold that offset or if the topic has another id.
 */

export interface Compared {
	readonly schema: string;
	readonly topics: readonly string[];
	/** For each partition, the next offset to read and the id of its topic; null: no id is recorded. */
	readonly progress: ReadonlyMap<string, { readonly next: number; readonly topicId: string | null }>;
	/** For each topic that exists, its id. */
	readonly ids: ReadonlyMap<string, string>;
	/** For each partition, the offsets that Kafka holds: from `first` up to and excluding `end`. */
	readonly held: ReadonlyMap<string, { readonly first: number; readonly end: number }>;
}

interface PartitionOffsets {
	readonly partition: string;
	readonly next: number;
	readonly first: number;
	readonly end: number;
}

const ABOUT = 'log';
/** Further partitions are only counted. */
const MAX_NAMED = 3;

export function judgeLog({ schema, topics, progress, ids, held }: Compared): Finding[] {
	const offsets = [...new Set([...held.keys(), ...progress.keys()])].map((partition) => {
		// A missing partition holds no log records; Tidemark will create it empty.
		const { first, end } = held.get(partition) ?? { first: 0, end: 0 };
		return { partition, next: progress.get(partition)?.next ?? 0, first, end };
	});
	const findings = topics.flatMap((topic) => {
		const own = offsets.filter(({ partition }) => partition.startsWith(`${topic}/`));
		const isReplaced = own.some(({ partition }) => {
			const [known, now] = [progress.get(partition)?.topicId ?? null, ids.get(topic)];
			return known !== null && now !== undefined && known !== now;
		});
		if (isReplaced) return [replaced(schema, topic)];
		return [...gaps(schema, own), ...beyond(schema, topic, own)];
	});
	if (findings.length > 0) return findings;
	if (held.size === 0) return [ok(ABOUT, 'no topic yet, and no recorded progress')];
	const waiting = offsets
		.filter(({ partition }) => held.has(partition))
		.reduce((sum, { next, end }) => sum + end - next, 0);
	return [
		ok(
			ABOUT,
			`${held.size} partitions, none with missing log records; workers still have to read ${waiting} log records`,
		),
	];
}

/** The recorded offsets belong to another topic. */
const replaced = (schema: string, topic: string): Finding =>
	bad(
		ABOUT,
		`${topic} was deleted and created again: its id differs from the recorded one. Log records that were only in the old topic are lost`,
		'To read the new topic from its beginning: stop the gateways, ' +
			`DELETE FROM ${schema}.partition_progress WHERE partition LIKE '${topic}/%', start the gateways`,
	);

function gaps(schema: string, offsets: readonly PartitionOffsets[]): Finding[] {
	const found = offsets.filter(({ next, first }) => next < first);
	if (found.length === 0) return [];
	return [
		bad(
			ABOUT,
			`${shown(found)}. Kafka removed log records before workers persisted them, so posts or marks are lost`,
			`Restore the topic. If you cannot, continue after the gap: UPDATE ${schema}.partition_progress ` +
				`SET next_offset = <the first offset that Kafka holds> WHERE partition = '<partition>'. Then give the topic a longer retention`,
		),
	];
}

function beyond(schema: string, topic: string, offsets: readonly PartitionOffsets[]): Finding[] {
	const found = offsets.filter(({ next, end }) => next > end);
	if (found.length === 0) return [];
	return [
		bad(
			ABOUT,
			`${shown(found)}. The topic was created again, or Kafka lost its newest log records`,
			// If gateways kept appending, workers would skip new log records up to the recorded offset as already persisted.
			'Stop the gateways, so that no new log record is skipped. If the topic was created again and holds none of the old log records: ' +
				`DELETE FROM ${schema}.partition_progress WHERE partition LIKE '${topic}/%'. If it is the same topic, do not delete, because workers would process its log records twice; ` +
				`instead: UPDATE ${schema}.partition_progress SET next_offset = <the end that Kafka holds for the partition> WHERE partition = '<partition>'`,
		),
	];
}

function shown(offsets: readonly PartitionOffsets[]): string {
	const named = offsets
		.slice(0, MAX_NAMED)
		.map(
			({ partition, next, first, end }) =>
				`${partition} must be read from ${next}, but Kafka holds ${first} to ${end}`,
		);
	const others = offsets.length - named.length;
	return `${named.join('; ')}${others > 0 ? `; and ${others} more partitions like these` : ''}`;
}
