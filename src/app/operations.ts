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

/** What operators see of a running process: health, readiness, metrics and the log of outages. */

const DURATION_BUCKETS_S = [
	0.0005, 0.001, 0.002, 0.004, 0.006, 0.01, 0.02, 0.05, 0.1, 0.15, 0.25, 0.5, 1, 2.5,
];
/** How long /readyz reports a failed commit. */
const DEGRADED_MS = 30_000;

/** A dependency whose outage the process survives. */
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

/** A gateway cannot post without these. PostgreSQL is not among them: posting works without it. */
const NEEDED_TO_POST: ReadonlySet<Dependency> = new Set(['redis', 'kafka', 'worker']);

interface Trouble {
	readonly dependency: Dependency;
	readonly since: number;
	readonly cause: string;
}

/** `server` is every role in one process. */
export type Role = 'server' | 'gateway' | 'worker';

export class ServerOperations implements Operations {
	private readonly failures: FailureLog;
	private readonly registry = new Registry();
	private readonly requests: Counter<'method' | 'outcome'>;
	private readonly durations: Histogram<'method'>;
	private readonly failedCommits: Counter;
	private readonly failedWrites: Counter;
	private readonly degradedGauge: Gauge<'dependency'>;
	/** By the name that the log and /readyz show. */
	private readonly troubles = new Map<string, Trouble>();
	private lastFailedCommit: { readonly at: number; readonly cause: string } | undefined;
	/** Why load balancers must not send requests; null: they may. */
	private phase: 'starting' | 'stopping' | null = null;
	/** Identifies the process that answered: behind a load balancer, clients cannot know which one it was. */
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
		// Bun runs a full garbage collection to answer these: every scrape would pause the process for 0.1 s or more.
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
		this.failedCommits = new Counter({
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

	/** Exports a value that may fall; read at each scrape. */
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

	/** Exports a value that only rises while the process runs; read at each scrape. */
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
	watchSockets(hub: Hub): void {
		this.gauge('connected_users', 'Users with at least one socket on this process', () => hub.users);
		this.gauge('sockets', 'Open sockets', () => hub.connections().length);
		this.counter('deliveries_total', 'Events delivered to sockets', () => hub.meters.delivered);
	}

	/** Exports the posts that this gateway acknowledged or made for scheduled messages. */
	watchPosts({ meters }: Pick<Requests, 'meters'>): void {
		this.counter(
			'posts_total',
			'Posts acknowledged, over HTTP and over sockets, and scheduled messages posted',
			() => meters.posts,
		);
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

	/** Exports how old commands are when the worker takes them. */
	watchWorker(worker: { lagMs(): number }): void {
		this.gauge(
			'worker_lag_seconds',
			'Age of the newest command when the worker took its batch',
			() => worker.lagMs() / 1000,
		);
	}

	health(): Response {
		return Response.json({ ok: true });
	}

	ready(): Response {
		const degraded: string[] = [];
		if (this.phase) degraded.push(this.phase);
		if (this.lastFailedCommit && Date.now() - this.lastFailedCommit.at < DEGRADED_MS)
			degraded.push(
				`store: a write failed at ${new Date(this.lastFailedCommit.at).toISOString()}: ${this.lastFailedCommit.cause}`,
			);
		for (const [what, { since, cause }] of this.troubles)
			degraded.push(`${what}, since ${new Date(since).toISOString()}: ${cause}`);
		const ok = this.phase === null && !this.cannotPost;
		return Response.json({ ok, degraded, process: this.process }, { status: ok ? 200 : 503 });
	}

	/** A gateway that cannot post fails /readyz, so that load balancers choose another one. */
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

	commitFailed(error: Error): void {
		this.lastFailedCommit = { at: Date.now(), cause: error.message };
		this.failedCommits.inc();
		this.log.error(
			{ err: error },
			'A commit failed; nothing in it was acknowledged. Check the disk that holds the data directory.',
		);
	}

	/** Counts a write to PostgreSQL that failed. */
	failedWrite(): void {
		this.failedWrites.inc();
	}

	/** Logs the outage once, however often it is reported, until `recovered`. */
	degraded(dependency: Dependency, error: Error): void {
		this.troubleBegan(dependency, dependency, error, 'is unavailable');
	}

	recovered(dependency: Dependency): void {
		this.troubleEnded(dependency, 'is available again after');
	}

	/** Like `degraded`, for one partition of the log. */
	onStalled(partition: string, error: Error): void {
		this.troubleBegan(`partition ${partition}`, 'log', error, 'is stalled');
	}

	onResumed(partition: string): void {
		this.troubleEnded(`partition ${partition}`, 'resumed or was reassigned after');
	}

	/** Lets /readyz answer "starting" while a long start runs. */
	starting(): void {
		this.phase = 'starting';
	}

	started(): void {
		this.phase = null;
	}

	stopping(): void {
		this.phase = 'stopping';
	}

	private troubleBegan(name: string, dependency: Dependency, { message: cause }: Error, state: string): void {
		const known = this.troubles.get(name);
		// /readyz shows the newest cause; the log showed the first.
		this.troubles.set(name, { dependency, since: known?.since ?? Date.now(), cause });
		if (known) return;
		this.degradedGauge.set({ dependency }, 1);
		// No stack: operators need the cause, not the line of code that noticed it.
		this.log.error(`${name} ${state}: ${cause}`);
	}

	private troubleEnded(name: string, state: string): void {
		const trouble = this.troubles.get(name);
		if (!trouble) return;
		this.troubles.delete(name);
		const { dependency, since } = trouble;
		const isLast = ![...this.troubles.values()].some((other) => other.dependency === dependency);
		if (isLast) this.degradedGauge.set({ dependency }, 0);
		this.log.info(`${name} ${state} ${Date.now() - since} ms`);
	}
}
