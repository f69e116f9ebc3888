import { inspectKafka, inspectOffsets } from '../../engine/cluster/kafka/inspect.ts';
import { topicNames } from '../../engine/cluster/kafka/open.ts';
import { inspectPostgres, inspectProgress } from '../../engine/cluster/postgres/inspect.ts';
import { inspectRedis } from '../../engine/cluster/redis/inspect.ts';
import { messageOfError } from '../../model/errors.ts';
import type { ClusterAddresses } from '../cluster-addresses.ts';
import type { Config } from '../config.ts';
import { adviceOn } from '../start-failures.ts';
import { bad, type Finding, ok, warn } from './finding.ts';
import { judgeLog } from './log.ts';

/** Checks that Redis, PostgreSQL and Kafka answer and are set up as Tidemark needs them. */

const OLDEST_REDIS = 7;

export interface ServiceFindings {
	readonly finding: Finding;
	/** The service's clock, and this machine's clock when the answer arrived. */
	readonly clock?: { readonly theirs: number; readonly ours: number };
}

const unusable = (about: string, error: unknown): Finding => {
	const found = messageOfError(error);
	return bad(about, found, adviceOn(found) ?? 'Fix this error, then run tidemark doctor again');
};

export async function redisFinding(place: ClusterAddresses['redis']): Promise<ServiceFindings> {
	const about = 'redis';
	try {
		const { version, cluster, evicts, nowMs } = await inspectRedis(place);
		const clock = { theirs: nowMs, ours: Date.now() };
		const kind = `${version}, ${cluster ? 'a node of a Redis Cluster' : 'a single node'}`;
		if (Number.parseInt(version, 10) < OLDEST_REDIS)
			return { finding: bad(about, kind, `Install Redis ${OLDEST_REDIS}.0 or newer`), clock };
		if (evicts !== null && evicts !== 'noeviction')
			return {
				finding: warn(
					about,
					`${kind}; it may evict changes that are not in PostgreSQL yet (maxmemory-policy ${evicts})`,
					'Run CONFIG SET maxmemory-policy noeviction, and set the same in redis.conf',
				),
				clock,
			};
		return { finding: ok(about, kind), clock };
	} catch (error) {
		return { finding: unusable(about, error) };
	}
}

export async function postgresFinding(
	place: ClusterAddresses['postgres'],
	schema: string,
): Promise<ServiceFindings> {
	const about = 'postgresql';
	try {
		const { version, pending, nowMs } = await inspectPostgres(place, schema);
		const clock = { theirs: nowMs, ours: Date.now() };
		if (pending === null)
			return { finding: ok(about, `${version}; the schema ${schema} will be created`), clock };
		const level = pending === 0 ? 'up to date' : `the next start runs ${pending} migrations`;
		return { finding: ok(about, `${version}; schema ${schema}, ${level}`), clock };
	} catch (error) {
		return { finding: unusable(about, error) };
	}
}

export async function kafkaFinding(config: Config, place: ClusterAddresses['kafka']): Promise<Finding> {
	const about = 'kafka';
	const { kafkaReplication: replication } = config;
	const wanted = topicsOf(config);
	try {
		const { brokers, partitions } = await inspectKafka(place, wanted);
		const missing = wanted.filter((topic) => !partitions.has(topic));
		if (missing.length > 0 && brokers < replication)
			return bad(
				about,
				`${missing.join(' and ')} ${missing.length === 1 ? 'needs' : 'need'} ${replication} brokers (TIDEMARK_KAFKA_REPLICATION), but Kafka has ${brokers}`,
				`Start more brokers, or lower TIDEMARK_KAFKA_REPLICATION to ${brokers}`,
			);
		const existing = [...partitions].map(([topic, count]) => `${topic} with ${count} partitions`);
		const toMake = missing.length > 0 ? [`${missing.join(' and ')} will be created`] : [];
		return ok(about, [`${brokers} brokers`, ...existing, ...toMake].join('; '));
	} catch (error) {
		return unusable(about, error);
	}
}

/** Called only if both services answer. */
export async function logFindings(
	config: Config,
	{ postgres, kafka }: Pick<ClusterAddresses, 'postgres' | 'kafka'>,
): Promise<Finding[]> {
	const { installation: schema } = config;
	const topics = topicsOf(config);
	try {
		// Read the progress before the log: a running cluster advances in between, and later progress would seem to be beyond the end of
		// the log.
		const progress = await inspectProgress(postgres, schema);
		const { ids, held } = await inspectOffsets(kafka, topics);
		return judgeLog({ schema, topics, progress, ids, held });
	} catch (error) {
		return [bad('log', messageOfError(error), 'Fix PostgreSQL and Kafka first')];
	}
}

function topicsOf({ installation }: Config): string[] {
	const { conversations, users } = topicNames(`${installation}-`);
	return [conversations, users];
}
