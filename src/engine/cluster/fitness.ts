/**
 * Whether this worker can reach every service it needs. Each service is probed in every round; rounds
 * are counted instead of time, because a stalled process sends no probes.
 *
 *     fit ──a service leaves more than 5 rounds unanswered──> doubtful ──more than 10 in total──> unfit
 *     doubtful ──all answer──> fit
 *     unfit ──all have answered for a while──> fit
 *
 * An unfit worker gives its partitions to fit workers (kafka/assigning.ts). A doubtful worker starts no rebalance, but counts as unfit in
 * a rebalance that another worker starts. So if a service fails for all workers, the first worker to become unfit finds no fit worker,
 * and keeps its partitions. Each time a worker becomes unfit, the time until it counts as fit again doubles, so that an unstable network
 * does not keep moving partitions.
 */

export type FitnessVerdict = 'fit' | 'doubtful' | 'unfit';

export interface ProbedService {
	readonly name: string;
	/** Resolves when the service has answered; rejects within seconds if it does not. */
	readonly probe: () => Promise<unknown>;
}

export interface FitnessHooks {
	onUnfit(service: string, seconds: number): void;
	/** All services answer an unfit worker again. */
	onAnswering(): void;
	onFit(): void;
}

const EVERY_MS = 500;
const DOUBTFUL_ROUNDS = 5;
const UNFIT_ROUNDS = 10;
/** A service counts as answering while it has left at most this many rounds unanswered. */
const ANSWERING_ROUNDS = 2;
const STEADY_ROUNDS = 10;
const MAX_STEADY_ROUNDS = 160;
/** After ten minutes in which all services answered, `steadyNeeded` starts again at `STEADY_ROUNDS`. */
const FORGIVEN_ROUNDS = 1_200;

export class Fitness {
	verdict: FitnessVerdict = 'fit';
	/** Rounds since the last answer of each service. */
	private readonly unanswered = new Map<string, number>();
	private readonly probing = new Set<string>();
	private readonly listeners: (() => void)[] = [];
	private timer: ReturnType<typeof setInterval> | undefined;
	/** Rounds in a row in which all services answered. */
	private steady = 0;
	private steadyNeeded = STEADY_ROUNDS;

	constructor(
		private readonly services: readonly ProbedService[],
		private readonly hooks: FitnessHooks,
	) {}

	start(): void {
		this.timer ??= setInterval(() => this.round(), EVERY_MS);
		this.timer.unref();
	}

	stop(): void {
		clearInterval(this.timer);
	}

	/** Called when the verdict changes. */
	onVerdict(listener: () => void): void {
		this.listeners.push(listener);
	}

	/** Public for tests, which do not wait. */
	round(): void {
		for (const service of this.services) {
			this.unanswered.set(service.name, (this.unanswered.get(service.name) ?? 0) + 1);
			void this.probe(service);
		}
		const [slowest, rounds] = [...this.unanswered].reduce((a, b) => (b[1] > a[1] ? b : a));
		this.steady = rounds <= ANSWERING_ROUNDS ? this.steady + 1 : 0;
		if (this.verdict === 'unfit' && this.steady === 1) this.hooks.onAnswering();
		if (this.steady > FORGIVEN_ROUNDS) this.steadyNeeded = STEADY_ROUNDS;
		const verdict = this.judge(rounds);
		if (verdict === this.verdict) return;
		const before = this.verdict;
		this.verdict = verdict;
		if (verdict === 'unfit') this.hooks.onUnfit(slowest, (rounds * EVERY_MS) / 1000);
		if (before === 'unfit') {
			this.steadyNeeded = Math.min(this.steadyNeeded * 2, MAX_STEADY_ROUNDS);
			this.hooks.onFit();
		}
		for (const listener of this.listeners) listener();
	}

	private judge(rounds: number): FitnessVerdict {
		if (rounds > UNFIT_ROUNDS) return 'unfit';
		if (this.verdict === 'unfit') return this.steady >= this.steadyNeeded ? 'fit' : 'unfit';
		return rounds > DOUBTFUL_ROUNDS ? 'doubtful' : 'fit';
	}

	private async probe({ name, probe }: ProbedService): Promise<void> {
		if (this.probing.has(name)) return;
		this.probing.add(name);
		try {
			await probe();
			this.unanswered.set(name, 0);
		} catch {
			// ServiceWatch reports the error.
		} finally {
			this.probing.delete(name);
		}
	}
}
