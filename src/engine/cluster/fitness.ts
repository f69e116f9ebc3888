/**
 * Whether this worker can do its work: it reaches every service that it needs. Each service is asked in every round; rounds
 * are counted instead of time, because a process that stalls asks nothing meanwhile.
 *
 *     fit ──a service leaves 5 rounds unanswered──> doubtful ──10 rounds──> unfit
 *     doubtful ──all answer──> fit
 *     unfit ──all have answered for a while──> fit
 *
 * An unfit worker gives its partitions to fit ones (kafka/assigning.ts). A doubtful one keeps what it has and is given nothing more:
 * when a service fails for everybody, the worker that notices first finds nobody fit and keeps its partitions. Each time a
 * worker becomes unfit, the time until it counts as fit again doubles, so that a bad network does not move partitions all the time.
 */

export type Verdict = 'fit' | 'doubtful' | 'unfit';

export interface Service {
	readonly name: string;
	/** Resolves when it has answered; rejects, within seconds, where it does not. */
	readonly ask: () => Promise<unknown>;
}

export interface FitnessHooks {
	onUnfit(service: string, seconds: number): void;
	/** Everything answers an unfit worker again. */
	onAnswering(): void;
	onFit(): void;
}

const EVERY_MS = 500;
const SUSPECT_ROUNDS = 5;
const UNFIT_ROUNDS = 10;
/** A service that answers has left so many rounds unanswered at most. */
const ANSWERING_ROUNDS = 2;
const STEADY_ROUNDS = 10;
const MOST_STEADY_ROUNDS = 160;
/** Ten minutes without trouble. */
const FORGIVEN_ROUNDS = 1_200;

export class Fitness {
	verdict: Verdict = 'fit';
	/** Of each service, the rounds since its last answer. */
	private readonly unanswered = new Map<string, number>();
	private readonly asked = new Set<string>();
	private readonly listeners: (() => void)[] = [];
	private timer: ReturnType<typeof setInterval> | undefined;
	/** Rounds in a row in which everything answered. */
	private steady = 0;
	private steadyNeeded = STEADY_ROUNDS;

	constructor(
		private readonly services: readonly Service[],
		private readonly hooks: FitnessHooks,
	) {}

	start(): void {
		this.timer ??= setInterval(() => this.round(), EVERY_MS);
		this.timer.unref();
	}

	stop(): void {
		clearInterval(this.timer);
	}

	/** Called when the verdict is another one. */
	onVerdict(listener: () => void): void {
		this.listeners.push(listener);
	}

	/** Public for tests, which let no time pass. */
	round(): void {
		for (const service of this.services) {
			this.unanswered.set(service.name, (this.unanswered.get(service.name) ?? 0) + 1);
			void this.ask(service);
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
			this.steadyNeeded = Math.min(this.steadyNeeded * 2, MOST_STEADY_ROUNDS);
			this.hooks.onFit();
		}
		for (const listener of this.listeners) listener();
	}

	private judge(rounds: number): Verdict {
		if (rounds > UNFIT_ROUNDS) return 'unfit';
		if (this.verdict === 'unfit') return this.steady >= this.steadyNeeded ? 'fit' : 'unfit';
		return rounds > SUSPECT_ROUNDS ? 'doubtful' : 'fit';
	}

	private async ask({ name, ask }: Service): Promise<void> {
		if (this.asked.has(name)) return;
		this.asked.add(name);
		try {
			await ask();
			this.unanswered.set(name, 0);
		} catch {
			// ServiceWatch reports it.
		} finally {
			this.asked.delete(name);
		}
	}
}
