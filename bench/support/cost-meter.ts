import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { SQL } from 'bun';
import { connectCommands } from '../../src/engine/cluster/redis/connection.ts';
import type { BenchCluster, ClusterRoles } from './cluster.ts';
import { type Figure, figure } from './figures.ts';
import { cpuSeconds } from './process-cpu.ts';
import type { Bench } from './scenario.ts';

/**
 * The cost at gateway, worker and services, by their own counters: CPU from the scheduler, commands and bytes from
 * Redis, rows and write-ahead log from PostgreSQL, bytes read and written by Kafka's process from Linux.
 */

/** The totals so far, by what is counted; CPU in seconds. */
type Measurement = ReadonlyMap<string, number>;

interface Timed {
	/** Ms. */
	readonly at: number;
	readonly measurement: Measurement;
}

interface Meter {
	readonly what: string;
	readonly unit: string;
	/** Units per counted value; 1 by default. */
	readonly times?: number;
}

const CPU: Omit<Meter, 'what'> = { unit: 'µs', times: 1e6 };
const METERS: readonly Meter[] = [
	{ what: 'CPU of the gateway', ...CPU },
	{ what: 'CPU of the worker', ...CPU },
	{ what: 'CPU of Kafka', ...CPU },
	{ what: 'CPU of Redis', ...CPU },
	{ what: 'CPU of PostgreSQL', ...CPU },
	{ what: 'Redis commands, including those in scripts,', unit: '' },
	{ what: 'bytes to Redis', unit: 'bytes' },
	{ what: 'bytes from Redis', unit: 'bytes' },
	{ what: 'bytes Kafka read', unit: 'bytes' },
	{ what: 'bytes Kafka wrote', unit: 'bytes' },
	{ what: 'write-ahead log of PostgreSQL', unit: 'bytes' },
	{ what: 'rows written in PostgreSQL', unit: '' },
	{ what: 'transactions of PostgreSQL', unit: '' },
];

const ROLES = ['CPU of the gateway', 'CPU of the worker'];
/** The target for gateway and worker together, per post. */
const MAX_MICROS = 150;

/** An idle connection of PostgreSQL reports its work only after 10 s. */
const REPORTED_AFTER_MS = 11_000;

export class CostMeter {
	private constructor(private readonly read: () => Promise<Measurement>) {}

	static async of(bench: Bench, cluster: BenchCluster, roles: ClusterRoles): Promise<CostMeter> {
		const place = { url: cluster.redisUrl, cluster: false, prefix: '' };
		const redis = await connectCommands(place, (error) => bench.progress(error.message));
		bench.atEnd(() => redis.disconnect());
		const postgres = new SQL(cluster.postgresUrl, { max: 1 });
		bench.atEnd(() => postgres.end());
		const kafka = listenerOf(Number(cluster.kafkaBrokers.split(':').at(-1)));
		const [backend] = await postgres.unsafe<{ pid: number }[]>('SELECT pg_backend_pid() AS pid');
		const postmaster = parentOf(backend?.pid ?? 0);
		return new CostMeter(async () => {
			const info = valuesIn(await redis.info());
			const [rows] = await postgres.unsafe<Record<string, string>[]>(WRITTEN);
			const { read, written } = bytesOf(kafka);
			const number = (value: string | undefined): number => Number(value ?? Number.NaN);
			return new Map([
				['CPU of the gateway', cpuSeconds(roles.gateway)],
				['CPU of the worker', cpuSeconds(roles.worker)],
				['CPU of Kafka', cpuSeconds(kafka)],
				['CPU of Redis', cpuSeconds(number(info.get('process_id')))],
				['CPU of PostgreSQL', familyOf(postmaster).reduce((sum, pid) => sum + cpuOf(pid), 0)],
				['Redis commands, including those in scripts,', number(info.get('total_commands_processed'))],
				['bytes to Redis', number(info.get('total_net_input_bytes'))],
				['bytes from Redis', number(info.get('total_net_output_bytes'))],
				['bytes Kafka read', read],
				['bytes Kafka wrote', written],
				['write-ahead log of PostgreSQL', number(rows?.wal)],
				['rows written in PostgreSQL', number(rows?.written)],
				['transactions of PostgreSQL', number(rows?.transactions)],
			]);
		});
	}

	/**
	 * The cost per post of the `posts` that `work` makes, including writes after their answers. The cost of the same
	 * time while idle is subtracted, so that a slow machine does not count polls and timers as the cost of posts.
	 */
	async during(posts: number, how: string, work: () => Promise<void>): Promise<Figure[]> {
		await Bun.sleep(REPORTED_AFTER_MS);
		const before = await this.timed();
		await work();
		await Bun.sleep(REPORTED_AFTER_MS);
		const after = await this.timed();
		await Bun.sleep(REPORTED_AFTER_MS);
		const idle = await this.timed();
		const share = (after.at - before.at) / (idle.at - after.at);
		const spent = (what: string): number => {
			const of = ({ measurement }: Timed): number => measurement.get(what) ?? Number.NaN;
			return (of(after) - of(before) - (of(idle) - of(after)) * share) / posts;
		};
		return [
			figure(
				`CPU of gateway and worker per post${how}`,
				'µs',
				[ROLES.reduce((sum, what) => sum + spent(what), 0) * 1e6],
				{
					atMost: MAX_MICROS,
				},
			),
			...METERS.map(({ what, unit, times = 1 }) =>
				figure(`${what} per post${how}`, unit, [spent(what) * times]),
			),
		];
	}

	private async timed(): Promise<Timed> {
		return { at: performance.now(), measurement: await this.read() };
	}
}

const WRITTEN = `SELECT (tup_inserted + tup_updated + tup_deleted)::text AS written, xact_commit::text AS transactions,
	pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::text AS wal
	FROM pg_stat_database WHERE datname = current_database()`;

const valuesIn = (info: string): ReadonlyMap<string, string> =>
	new Map(
		info.split('\r\n').flatMap((line): [string, string][] => {
			const [name, value] = line.split(':');
			return name && value ? [[name, value]] : [];
		}),
	);

const processes = (): number[] => readdirSync('/proc').map(Number).filter(Number.isInteger);

function parentOf(pid: number): number {
	try {
		return Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
	} catch {
		// The process ended meanwhile.
		return 0;
	}
}

const familyOf = (pid: number): number[] => [pid, ...processes().filter((one) => parentOf(one) === pid)];

function cpuOf(pid: number): number {
	try {
		return cpuSeconds(pid);
	} catch {
		return 0;
	}
}

function bytesOf(pid: number): { read: number; written: number } {
	const io = readFileSync(`/proc/${pid}/io`, 'utf8');
	const value = (name: string): number => Number(new RegExp(`^${name}: (\\d+)`, 'm').exec(io)?.[1]);
	return { read: value('rchar'), written: value('wchar') };
}

const LISTENS = '0A';

/** The process that listens on a port of this machine. */
function listenerOf(port: number): number {
	const sockets = new Set<string>();
	for (const table of ['tcp', 'tcp6'])
		for (const line of readFileSync(`/proc/net/${table}`, 'utf8').split('\n').slice(1)) {
			const [, local = '', , state, , , , , , inode] = line.trim().split(/\s+/);
			if (state === LISTENS && Number.parseInt(local.split(':')[1] ?? '', 16) === port)
				sockets.add(`socket:[${inode}]`);
		}
	const found = processes().find((pid) => filesOf(pid).some((file) => sockets.has(file)));
	if (found === undefined) throw new Error(`no process of this machine listens on port ${port}`);
	return found;
}

function filesOf(pid: number): string[] {
	try {
		return readdirSync(`/proc/${pid}/fd`).map((file) => readlinkSync(`/proc/${pid}/fd/${file}`));
	} catch {
		return [];
	}
}
