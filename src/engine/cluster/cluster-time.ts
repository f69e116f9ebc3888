import type { Commands } from './redis/connection.ts';

/**
 * The time of day that all processes of a cluster stamp with: each machine's clock, corrected where it differs from the clocks of
 * Redis. A device's position is a stamp, and the device resumes from only a few seconds before it (`OVERLAP_MICROS`). If clocks were
 * further apart, a device that was connected to a fast gateway would miss changes that a slow process stamped.
 *
 * Redis is the reference because it records, by its own clock, when a change became visible. The clocks of its nodes have to agree.
 *
 * Between two comparisons the time advances by the elapsed time, so that setting the machine's clock has no effect until Redis confirms it.
 */

/** A machine may differ from Redis by this much, so two machines by twice as much: within the overlap, even with usual delays. */
const TOLERATED_MICROS = 1_000_000;

export interface ClusterTimeParts {
	/** Reads the clock of each Redis node, in microseconds; omits nodes that do not answer. */
	readonly read: () => Promise<readonly Reading[]>;
	readonly wallMicros: () => number;
	/** Monotonic. */
	readonly elapsedMicros: () => number;
	/** Called with the new correction in microseconds; 0: the machine's clock is within the tolerance. */
	readonly onCorrected: (micros: number) => void;
}

export interface Reading {
	/** Time of the node's clock. */
	readonly micros: number;
	/** Time of the machine's clock halfway between request and answer. */
	readonly wallMicros: number;
	/** Half of the round trip: the possible error of the reading. */
	readonly errorMicros: number;
}

export class ClusterTime {
	private correction = 0;
	/** The cluster time minus the elapsed time. */
	private offset: number;

	constructor(private readonly parts: ClusterTimeParts) {
		this.offset = parts.wallMicros() - parts.elapsedMicros();
	}

	nowMicros = (): number => this.parts.elapsedMicros() + this.offset;

	/**
	 * Compares the clocks. Changes the correction only if the corrected clock is certainly outside the tolerance, given the error of the
	 * reading. Changes nothing if no node answers.
	 */
	async measure(): Promise<void> {
		const readings = [...(await this.parts.read())].sort((a, b) => aheadOf(a) - aheadOf(b));
		// The median ignores a single node with a wrong clock.
		const reading = readings[Math.floor(readings.length / 2)];
		if (!reading) return;
		const ahead = aheadOf(reading);
		const { wallMicros, elapsedMicros, onCorrected } = this.parts;
		if (Math.abs(ahead + this.correction) > TOLERATED_MICROS + reading.errorMicros) {
			this.correction = Math.abs(ahead) <= TOLERATED_MICROS ? 0 : -Math.round(ahead);
			onCorrected(this.correction);
		}
		this.offset = wallMicros() + this.correction - elapsedMicros();
	}
}

/** By how much the machine's clock is ahead of the node's. */
const aheadOf = ({ micros, wallMicros }: Reading): number => wallMicros - micros;

export async function readClocks(
	commands: Commands,
	wallMicros: () => number,
	elapsedMs: () => number,
): Promise<readonly Reading[]> {
	const nodes = 'nodes' in commands ? commands.nodes('master') : [commands];
	const read = await Promise.allSettled(
		nodes.map(async (node): Promise<Reading> => {
			const askedAt = elapsedMs();
			const [seconds, micros] = await node.time();
			const errorMicros = ((elapsedMs() - askedAt) * 1000) / 2;
			return {
				micros: Number(seconds) * 1e6 + Number(micros),
				wallMicros: wallMicros() - errorMicros,
				errorMicros,
			};
		}),
	);
	return read.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
}
