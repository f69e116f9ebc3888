import type { Shape, World } from './world.ts';

/** Injects faults at random moments, while it is on. */

/** Of the network, in every shape. */
const NETWORK_FAULTS = [
	'cut socket',
	'stalled socket',
	'lost requests',
	'lost answers',
	'slow network',
] as const;

export const faultsOf = (shape: Shape): string[] => [...NETWORK_FAULTS, ...Object.keys(shape.faults)];

const EVERY_MS = 400;

export class Chaos {
	private isOn = false;
	private round = 0;

	constructor(
		private readonly world: World,
		private readonly shape: Shape,
		private readonly faults: readonly string[],
	) {}

	begin(): void {
		this.isOn = true;
		this.round += 1;
		this.next(this.round);
	}

	end(): void {
		this.isOn = false;
		this.shape.heal();
		Object.assign(this.world.network.faults, { lostRequest: 0, lostAnswer: 0, slowest: 2 });
	}

	private next(round: number): void {
		const { scheduler, chaos } = this.world;
		if (this.faults.length === 0) return;
		scheduler.at(chaos, scheduler.random.next() * EVERY_MS, '', () => {
			if (!this.isOn || this.round !== round) return;
			const fault = scheduler.random.pick(this.faults) as string;
			scheduler.note(`fault: ${fault}`);
			this.world.tally(fault);
			this.inject(fault);
			this.next(round);
		});
	}

	private inject(fault: string): void {
		const { scheduler, network } = this.world;
		const socket = scheduler.random.pick([...network.sockets].filter(({ isOpen }) => isOpen));
		switch (fault) {
			case 'cut socket':
				socket?.cut(scheduler.random.chance(0.7));
				return;
			case 'stalled socket':
				socket?.stall(scheduler.latency(10, 20_000));
				return;
			case 'lost requests':
				network.faults.lostRequest = 0.1;
				return;
			case 'lost answers':
				network.faults.lostAnswer = 0.1;
				return;
			case 'slow network':
				network.faults.slowest = 400;
				return;
			default:
				this.shape.faults[fault]?.();
		}
	}
}
