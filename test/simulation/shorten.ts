import { EXTRA_STEPS } from './extras.ts';
import { type Options, type Ran, simulate } from './simulate.ts';

/**
 * Shortens a failed history: leaves out rounds, faults and operations while it still fails. The same seed with the returned options runs
 * the shortened history.
 */

export type Shortened = Required<Pick<Options, 'rounds' | 'faults' | 'without'>>;

const MAX_TRIES = 40;

export function shorten(failed: Ran): { readonly ran: Ran; readonly options: Shortened } {
	const { seed, shape, plan } = failed;
	let best = failed;
	let options: Shortened = { rounds: plan.rounds, faults: plan.faults, without: plan.without };
	let tries = 0;
	const attempt = (changed: Partial<Shortened>): boolean => {
		if (tries >= MAX_TRIES) return false;
		tries += 1;
		const ran = simulate(seed, { shape, ...options, ...changed });
		if (!ran.error) return false;
		best = ran;
		options = { ...options, ...changed };
		return true;
	};
	for (let rounds = 1; rounds < plan.rounds && !attempt({ rounds }); ) rounds += 1;
	for (const fault of plan.faults) attempt({ faults: options.faults.filter((one) => one !== fault) });
	const steps = Array.from({ length: plan.rounds * plan.perRound + 8 }, (_, index) => index + 1);
	const extra = Object.values(EXTRA_STEPS).flatMap((first) =>
		Array.from({ length: plan.rounds }, (_, index) => first + index + 1),
	);
	for (const step of [...extra, ...steps]) attempt({ without: new Set([...options.without, step]) });
	return { ran: best, options };
}
