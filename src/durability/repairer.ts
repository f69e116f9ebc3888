import type { RepairProblem, Views } from '../engine/ports/views.ts';
import type { Drifted, Verifier } from './verifier.ts';

/**
 * Repairs counts that drifted: the engine reloads the affected views from the store, and the counts are compared again. A
 * repair that could lose data is skipped and reported.
 */

export type RepairOutcome =
	| 'repaired'
	| RepairProblem
	/** Reloaded from the store, but still different. */
	| 'still_differs'
	/** The time limit of the request was reached first. */
	| 'not_tried';

/** Time limit for all repairs of one request, because the HTTP client waits. */
const TIME_LIMIT_MS = 20_000;
/** One repair is attempted for this long, with this pause between attempts. */
const TRIED_FOR_MS = 5_000;
const PAUSE_MS = 20;

export class Repairer {
	readonly meters = { repaired: 0 };

	constructor(
		private readonly views: Pick<Views, 'repair'>,
		private readonly verifier: Pick<Verifier, 'driftOf'>,
		private readonly nowMs: () => number,
	) {}

	/** Resolves to one outcome per drifted count, in the same order. */
	async repair(drifted: readonly Drifted[]): Promise<RepairOutcome[]> {
		const end = this.nowMs() + TIME_LIMIT_MS;
		const reloaded = new Set<string>();
		const outcomes: RepairOutcome[] = [];
		for (const one of drifted) {
			const outcome = await this.repairOne(one, end, reloaded);
			if (outcome === 'repaired') this.meters.repaired += 1;
			outcomes.push(outcome);
		}
		return outcomes;
	}

	private async repairOne(one: Drifted, end: number, reloaded: Set<string>): Promise<RepairOutcome> {
		const { user, conversation } = one;
		// An earlier repair in this request has reloaded the conversation, which may have fixed this count too.
		if (reloaded.has(conversation) && !(await this.verifier.driftOf(one))) return 'repaired';
		if (this.nowMs() >= end) return 'not_tried';
		const attempt = await this.attempt(user, conversation);
		if (attempt !== 'repaired') return attempt;
		reloaded.add(conversation);
		return (await this.verifier.driftOf(one)) ? 'still_differs' : 'repaired';
	}

	private async attempt(user: string, conversation: string): Promise<'repaired' | RepairProblem> {
		for (const end = this.nowMs() + TRIED_FOR_MS; ; ) {
			const outcome = await this.views.repair(user, conversation);
			if (outcome === 'repaired' || this.nowMs() >= end) return outcome;
			await Bun.sleep(PAUSE_MS);
		}
	}
}
