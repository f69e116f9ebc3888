import type { Shape, World } from './world.ts';

/**
 * Injects a few faults at random moments of a round. Lasting faults end after a while: an installation under constant faults need not
 * make progress.
 */

/** Faults of the network, which every shape has. */
const NETWORK_FAULTS = [
	'cut socket',
	'stalled socket',
	'lost requests',
	'lost answers',
	'slow network',
	'failing push',
] as const;

export const faultsOf = (shape: Shape): string[] => [...NETWORK_FAULTS, ...Object.keys(shape.faults)];

/** The longest time between two faults, unless the operations of the round take longer than this to begin. */
const EVERY_MS = 40;
const MAX_FAULTS = 7;
/** When the faults of a round end, counted from its start. */
const ENDS_AFTER_MS = { least: 500, most: 12_000 };

export class Chaos {
	private isOn = false;
	private round = 0;

	constructor(
		private readonly world: World,
		private readonly shape: Shape,
		private readonly faults: readonly string[],
	) {}

	/** `withinMs`: how long it takes until all operations of the round have begun. */
	begin(withinMs: number): void {
		this.isOn = true;
		this.round += 1;
		const { scheduler, chaos } = this.world;
		const { round } = this;
		this.next(round, 1 + scheduler.random.below(MAX_FAULTS), withinMs / 2, Math.max(EVERY_MS, withinMs));
		scheduler.at(chaos, scheduler.latency(ENDS_AFTER_MS.least, ENDS_AFTER_MS.most), '', () => {
			if (this.round === round) this.end();
		});
	}

	end(): void {
		if (!this.isOn) return;
		this.isOn = false;
		this.shape.heal();
		if (this.world.phones) Object.assign(this.world.phones.faults, { busy: 0, lostAnswer: 0, slowest: 20 });
		this.world.network.onAnswered = null;
		Object.assign(this.world.network.faults, { lostRequest: 0, lostAnswer: 0, slowest: 2 });
	}

	private next(round: number, left: number, soonMs: number, everyMs: number): void {
		const { scheduler, chaos } = this.world;
		if (this.faults.length === 0 || left === 0) return;
		scheduler.at(chaos, scheduler.random.next() * soonMs, '', () => {
			if (!this.isOn || this.round !== round) return;
			const fault = scheduler.random.pick(this.faults) as string;
			scheduler.note(`fault: ${fault}`);
			this.world.tally(fault);
			this.inject(fault);
			this.next(round, left - 1, everyMs, everyMs);
		});
	}

	private inject(fault: string): void {
		const { scheduler, network, phones } = this.world;
		const socket = scheduler.random.pick([...network.sockets].filter(({ isOpen }) => isOpen));
		switch (fault) {
			case 'cut socket':
				if (scheduler.random.chance(0.3)) for (const each of [...network.sockets]) each.cut(true);
				else socket?.cut(scheduler.random.chance(0.7));
				return;
			case 'stalled socket':
				socket?.stall(scheduler.latency(10, 20_000));
				return;
			case 'lost requests':
				network.faults.lostRequest = 0.1;
				return;
			case 'lost answers':
				network.faults.lostAnswer = 0.2;
				return;
			case 'failing push':
				if (phones) Object.assign(phones.faults, { busy: 0.3, lostAnswer: 0.3, slowest: 2_000 });
				return;
			case 'slow network':
				network.faults.slowest = 400;
				return;
			default:
				this.shape.faults[fault]?.();
		}
	}
}
