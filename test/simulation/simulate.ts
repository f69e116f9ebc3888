import { INVARIANTS, violationsOf } from '../../src/model/invariants.ts';
import { beginningOf, VARIANTS } from './beginning.ts';
import { faultsOf } from './chaos.ts';
import { ClusterShape } from './cluster/shape.ts';
import { Coverage, type Covered } from './coverage.ts';
import { EmbeddedShape } from './embedded.ts';
import { installGlobals } from './globals.ts';
import { History, Mismatch, type Plan } from './history.ts';
import { Network } from './network.ts';
import { Phones } from './phones.ts';
import { Scheduler } from './scheduler.ts';
import type { Shape, World } from './world.ts';

/** Runs one history from its seed. */

export type ShapeName = 'embedded' | 'cluster';

export interface Options {
	readonly shape: ShapeName;
	readonly trace?: boolean;
	readonly rounds?: number;
	readonly faults?: readonly string[];
	readonly without?: ReadonlySet<number>;
}

export interface Ran {
	readonly seed: number;
	readonly shape: ShapeName;
	/** The mismatch or error; null: the history passed. */
	readonly error: unknown;
	readonly hash: string;
	readonly events: number;
	readonly simulatedMs: number;
	readonly plan: Plan;
	readonly covered: Covered;
	readonly lines: readonly string[];
}

/** Chance that a history pushes notifications: polling for them costs time. */
const WITH_PUSH = 0.3;
/** Far more than any history needs, unless it makes no progress. */
const LIMITS = { steps: 500_000, ms: 3_600_000 };

export function simulate(seed: number, options: Options): Ran {
	const beginning = beginningOf(options.shape, seed % VARIANTS, (world) => shapeOf(options.shape, world));
	const scheduler = new Scheduler(seed, options);
	scheduler.now = beginning.now;
	const began = scheduler.now;
	const coverage = new Coverage();
	scheduler.reached = (path) => coverage.reached(path);
	const tally = (fault: string): void => coverage.inject(fault);
	const network = new Network(scheduler, tally);
	const phones = scheduler.random.chance(WITH_PUSH) ? new Phones(scheduler, tally) : null;
	const world: World = {
		phones,
		scheduler,
		network,
		chaos: scheduler.process('chaos'),
		tally,
		calm: () => coverage.calm(),
	};
	const uninstall = installGlobals(scheduler, network);
	const shape: Shape = shapeOf(options.shape, world);
	shape.restore(beginning.saved as never);
	const plan = planOf(scheduler, shape, options);
	const violated = violations();
	let error: unknown = null;
	try {
		scheduler.runUntilSettled(new History(world, shape, plan, beginning).begin(), LIMITS);
		if (violations() > violated) throw new Mismatch('an invariant was violated: see src/model/invariants.ts');
	} catch (caught) {
		error = caught;
	} finally {
		uninstall();
		shape.close();
	}
	return {
		seed,
		shape: options.shape,
		error,
		hash: scheduler.hash.toString(16),
		events: scheduler.steps,
		simulatedMs: scheduler.now - began,
		plan,
		covered: coverage.covered,
		lines: scheduler.lines ?? [],
	};
}

function shapeOf(name: ShapeName, world: World): Shape {
	return name === 'cluster' ? new ClusterShape(world) : new EmbeddedShape(world);
}

const violations = (): number => INVARIANTS.reduce((sum, invariant) => sum + violationsOf(invariant), 0);

/** Each history has its own mix of faults: if all of them happen, they hide bugs that a few of them would show. */
function planOf({ random, seed }: Scheduler, shape: Shape, options: Options): Plan {
	// Everything is drawn, even if an option replaces it, so that later draws of the same seed stay the same.
	const faults = faultsOf(shape).filter(() => random.chance(0.4));
	const rounds = 1 + random.below(3);
	const perRound = 4 + random.below(6);
	return {
		seed,
		rounds: options.rounds ?? rounds,
		perRound,
		faults: options.faults ?? faults,
		without: options.without ?? new Set(),
	};
}

export const describe = (error: unknown): string =>
	error instanceof Mismatch
		? error.message
		: error instanceof Error
			? (error.stack ?? error.message)
			: String(error);
