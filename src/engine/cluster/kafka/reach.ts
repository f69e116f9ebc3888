import { findErrorBy } from '@platformatic/kafka';
import { rootOf } from './errors.ts';

/** Whether Kafka can be reached, as each side of this process finds out: those that append, and those that read. */

/** Told of all sides; those are named for telling them apart. */
export interface ReachWatch {
	/** Told again at each attempt that fails. */
	lost(side: string, error: Error): void;
	/** Told again at each that does not. */
	regained(side: string): void;
}

/** One side of it. */
export interface Reach {
	lost(error: unknown): void;
	regained(): void;
}

export const reachOf = (side: string, watch: ReachWatch | undefined): Reach => ({
	lost: (error) => watch?.lost(side, new Error(rootOf(error), { cause: error })),
	regained: () => watch?.regained(side),
});

/** It was not reached, or did not answer. */
export const isNetwork = (error: unknown): boolean =>
	error instanceof NoAnswer ||
	(error instanceof Error &&
		['PLT_KFK_NETWORK', 'PLT_KFK_TIMEOUT'].some((code) => findErrorBy(error, 'code', code) !== null));

export class NoAnswer extends Error {
	constructor(ms: number) {
		super(`Kafka has not answered for ${ms} ms`);
		this.name = 'NoAnswer';
	}
}

/** Waits no longer for it; it may go on. */
export async function answered<T>(withinMs: number, asked: Promise<T>): Promise<T> {
	const patience = Promise.withResolvers<never>();
	const timer = setTimeout(() => patience.reject(new NoAnswer(withinMs)), withinMs);
	try {
		return await Promise.race([asked, patience.promise]);
	} finally {
		clearTimeout(timer);
	}
}
