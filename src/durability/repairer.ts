import type { RepairProblem } from '../engine/ports/views.ts';
import type { ReadState } from '../unread/read-state.ts';
import type { Drifted, Verifier } from './verifier.ts';

/**
 * Repairs counts that drifted: the engine reloads from the store what they are derived from, and they are
 * compared once more. A repair that would risk a loss is not done, and reported.
 */

export type RepairOutcome =
	| 'repaired'
	| RepairProblem
	/** Reloaded from the store, and still different. */
	| 'still_differs'
	/** Others took all the time that there is for one call. */
	| 'not_tried';

/** For all repairs of one request: the HTTP client waits for it. */
const PATIENCE_MS = 20_000;

export class Repairer {
	readonly meters = { repaired: 0 };

	constructor(
		private readonly readState: Pick<ReadState, 'repair'>,
		private readonly verifier: Pick<Verifier, 'look'>,
		private readonly nowMs: () => number,
	) {}

	/** What became of each of them, in their order. */
	async repair(drifted: readonly Drifted[]): Promise<RepairOutcome[]> {
		const end = this.nowMs() + PATIENCE_MS;
		const takenIn = new Set<string>();
		const outcomes: RepairOutcome[] = [];
		for (const one of drifted) {
			const outcome = await this.repairOne(one, end, takenIn);
			if (outcome === 'repaired') this.meters.repaired += 1;
			outcomes.push(outcome);
		}
		return outcomes;
	}

	private async repairOne(one: Drifted, end: number, takenIn: Set<string>): Promise<RepairOutcome> {
		const { user, conversation } = one;
		// What was done for another user, or for the timeline of the same one, may have been enough.
		if (takenIn.has(conversation) && !(await this.verifier.look(one))) return 'repaired';
		if (this.nowMs() >= end) return 'not_tried';
		const attempt = await this.readState.repair(user, conversation);
		if (attempt !== 'repaired') return attempt;
		takenIn.add(conversation);
		return (await this.verifier.look(one)) ? 'still_differs' : 'repaired';
	}
}
