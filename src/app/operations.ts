import { hostname } from 'node:os';
import type { Logger } from 'pino';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Repairer } from '../durability/repairer.ts';
import type { Verifier } from '../durability/verifier.ts';
import type { Requests } from '../gateway/requests.ts';
import type { Operations } from '../gateway/services.ts';
import type { Hub } from '../gateway/socket/hub.ts';
import { INVARIANTS, violationsOf } from '../model/invariants.ts';
import { FailureLog } from './failure-log.ts';

/** Health, metrics and the log: everything that an operator sees of a running process. */

const DURATION_BUCKETS_S = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.15, 0.25, 0.5, 1, 2.5];
/** For how long after a failed commit the server calls itself degraded. */
const DEGRADED_MS = 30_000;

/** What a process depends on and can do without for a while. */
export type Dependency =
	| 'store'
	| 'postgres'
	| 'redis'
	| 'kafka'
	| 'log'
	| 'read state'
	| 'worker'
	| 'partitions'
	| 'apns'
	| 'fcm'
	| 'web';

/** Of a gateway. PostgreSQL is none of them: posts go on without it. */
const NEEDED_TO_POST: ReadonlySet<Dependency> = new Set(['redis', 'kafka', 'worker']);

interface Trouble {
	readonly dependency: Dependency;
	readonly since: number;
	readonly cause: string;
}

/** What a process does: `server` is every role in one. */
export type Role = 'server' | 'gateway' | 'worker';

export class ServerOperations implements Operations {
	private readonly failures: FailureLog;
	private readonly registry = new Registry();
	private readonly requests: Counter<'method' | 'outcome'>;
	private readonly durations: Histogram<'method'>;
	private readonly setbacks: Counter;
	private readonly failedWrites: Counter;
	private readonly degradedGauge: Gauge<'dependency'>;
	/** By name, as operators read it. */
	private readonly troubles = new Map<string, Trouble>();
	private lastSetback: { readonly at: number; readonly cause: string } | undefined;
	/** Why it is not to be sent anything, if it is not. */
	private phase: 'starting' | 'stopping' | null = null;
	/** Which process answers: behind a load balancer a client cannot know. */
	private readonly process: { readonly role: Role; readonly id: string };

	constructor(
		private readonly log: Logger,
		role: Role,
	) {
		this.failures = new FailureLog(log);
		const registers = [this.registry];
		this.process = { role, id: `${hostname()}:${process.pid}` };
		new Gauge({
			name: 'tidemark_process_info',
			help: 'Always 1; the labels name this process and its role',
			labelNames: ['role', 'id'],
			registers,
		}).set(this.process, 1);
		collectDefaultMetrics({ register: this.registry, prefix: 'tidemark_' });
		// Bun collects all garbage to answer these: a scrape would stop everybody for 0.1 s and more.
		for (const part of ['total', 'used', 'available'])
			this.registry.removeSingleMetric(`tidemark_nodejs_heap_space_size_${part}_bytes`);
		this.requests = new Counter({
			name: 'tidemark_requests_total',
			help: 'API methods called, by method and outcome',
			labelNames: ['method', 'outcome'],
			registers,
		});
		this.durations = new Histogram({
			name: 'tidemark_request_duration_seconds',
			help: 'Time from receiving a request to answering it',
			labelNames: ['method'],
			buckets: DURATION_BUCKETS_S,
			registers,
		});
		this.setbacks = new Counter({
			name: 'tidemark_failed_commits_total',
			help: 'SQLite commits that failed; nothing in them was acknowledged',
			registers,
		});
		this.failedWrites = new Counter({
			name: 'tidemark_failed_writes_total',
			help: 'Writes to PostgreSQL that failed; workers retry theirs until they succeed',
			registers,
		});
		const violations = new Counter({
			name: 'tidemark_invariant_violations_total',
			help: 'Invariants that were broken; anything but 0 is a bug in Tidemark',
			labelNames: ['invariant'],
			registers,
			collect() {
				violations.reset();
				for (const invariant of INVARIANTS) violations.inc({ invariant }, violationsOf(invariant));
			},
		});
		this.degradedGauge = new Gauge({
			name: 'tidemark_degraded',
			help: '1 while a dependency is unavailable or a partition of the log is stalled',
			labelNames: ['dependency'],
			registers,
		});
	}

	/** A number that may fall. It is read at each scrape. */
	gauge(name: string, help: string, value: () => number): void {
		if (name.endsWith('_total')) throw new Error(`${name} is named like a counter`);
		new Gauge({
			name: `tidemark_${name}`,
			help,
			registers: [this.registry],
			collect() {
				this.set(value());
			},
		});
	}

	/** A number that only rises while the process runs. It is read at each scrape. */
	counter(name: string, help: string, value: () => number): void {
		if (!name.endsWith('_total')) throw new Error(`${name} is a counter: its name must end in _total`);
		new Counter({
			name: `tidemark_${name}`,
			help,
			registers: [this.registry],
			collect() {
				this.reset();
				this.inc(value());
			},
		});
	}

	/** Exports the sockets of this gateway. */
	watch(hub: Hub): void {
		this.gauge('connected_users', 'Users with at least one socket on this process', () => hub.users);
		this.gauge('sockets', 'Open sockets', () => [...hub.connections()].length);
		this.counter('deliveries_total', 'Frames written to sockets', () => hub.meters.delivered);
	}

	/** Exports the posts that this gateway acknowledged, over HTTP and over sockets. */
	watchPosts({ meters }: Pick<Requests, 'meters'>): void {
		this.counter('posts_total', 'Posts acknowledged, over HTTP and over sockets', () => meters.posts);
	}

	/** Exports how many counts were compared with the store. */
	watchCounts({ meters }: Pick<Verifier, 'meters'>, repairer: Pick<Repairer, 'meters'>): void {
		this.counter('checked_counts_total', 'Counts compared with the store', () => meters.checked);
		this.counter('drifted_counts_total', 'Counts that differed from the store', () => meters.drifted);
		this.counter(
			'repaired_counts_total',
			'Drifted counts that were reloaded from the store',
			() => repairer.meters.repaired,
		);
	}

	/** Exports how old commands are when the worker decides them. */
	watchWorker(worker: { lagMs(): number }): void {
		this.gauge(
			'worker_lag_seconds',
			'Age of the newest command when the worker decided it',
			() => worker.lagMs() / 1000,
		);
	}

	health(): Response {
		return Response.json({ ok: true });
	}

	ready(): Response {
		const degraded: string[] = [];
		if (this.phase) degraded.push(this.phase);
		if (this.lastSetback && Date.now() - this.lastSetback.at < DEGRADED_MS)
			degraded.push(
				`store: a write failed at ${new Date(this.lastSetback.at).toISOString()}: ${this.lastSetback.cause}`,
			);
		for (const [what, { since, cause }] of this.troubles)
			degraded.push(`${what}, since ${new Date(since).toISOString()}: ${cause}`);
		const ok = this.phase === null && !this.cannotPost;
		return Response.json({ ok, degraded, process: this.process }, { status: ok ? 200 : 503 });
	}

	/** A gateway that nothing can be posted through is not to be sent anything, where another one can do it. */
	private get cannotPost(): boolean {
		if (this.process.role !== 'gateway') return false;
		return [...this.troubles.values()].some(({ dependency }) => NEEDED_TO_POST.has(dependency));
	}

	async metrics(): Promise<Response> {
		const headers = { 'content-type': this.registry.contentType };
		return new Response(await this.registry.metrics(), { headers });
	}

	observe(method: string, outcome: string, milliseconds: number): void {
		this.requests.inc({ method, outcome });
		this.durations.observe({ method }, milliseconds / 1000);
	}

	failed(method: string, error: unknown): void {
		this.failures.failed(method, error);
	}

	warn(what: string): void {
		this.log.warn(what);
	}

	setback(error: Error): void {
		this.lastSetback = { at: Date.now(), cause: error.message };
		this.setbacks.inc();
		this.log.error(
			{ err: error },
			'A commit failed; nothing in it was acknowledged. Check the disk that holds the data directory.',
		);
	}

	/** Of a database that is tried again. */
	failedWrite(): void {
		this.failedWrites.inc();
	}

	/** Said once, however often it is noticed, until `recovered`. */
	degraded(dependency: Dependency, error: Error): void {
		this.begins(dependency, dependency, error, 'is unavailable');
	}

	recovered(dependency: Dependency): void {
		this.ends(dependency, 'is available again after');
	}

	/** Likewise, of one partition of the log. */
	onStalled(partition: string, error: Error): void {
		this.begins(`partition ${partition}`, 'log', error, 'is stalled');
	}

	onResumed(partition: string): void {
		this.ends(`partition ${partition}`, 'resumed or was reassigned after');
	}

	/** Answers /readyz before it has started, because starting may take long. */
	starting(): void {
		this.phase = 'starting';
	}

	started(): void {
		this.phase = null;
	}

	stop(): void {
		this.phase = 'stopping';
	}

	private begins(what: string, dependency: Dependency, { message: cause }: Error, how: string): void {
		const known = this.troubles.get(what);
		// The cause may have changed: /readyz has that of the last attempt, the log that of the first.
		this.troubles.set(what, { dependency, since: known?.since ?? Date.now(), cause });
		if (known) return;
		this.degradedGauge.set({ dependency }, 1);
		// One line that says why: where in the code it was noticed helps nobody who operates it.
		this.log.error(`${what} ${how}: ${cause}`);
	}

	private ends(what: string, how: string): void {
		const trouble = this.troubles.get(what);
		if (!trouble) return;
		this.troubles.delete(what);
		const { dependency, since } = trouble;
		const isLast = ![...this.troubles.values()].some((other) => other.dependency === dependency);
		if (isLast) this.degradedGauge.set({ dependency }, 0);
		this.log.info(`${what} ${how} ${Date.now() - since} ms`);
	}
}
