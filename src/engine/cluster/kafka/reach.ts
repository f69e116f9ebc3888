import { findErrorBy } from '@platformatic/kafka';
import { innermostReason } from './errors.ts';

/** Whether Kafka is reachable, as the appending and the reading side of this process observe it. */

/** Notified by all sides, each with its name. */
export interface ReachWatch {
	/** Called at each failed attempt. */
	lost(side: string, error: Error): void;
	/** Called at each successful attempt. */
	regained(side: string): void;
}

/** Reports for one side. */
export interface Reach {
	lost(error: unknown): void;
	regained(): void;
}

export const reachOf = (side: string, watch: ReachWatch | undefined): Reach => ({
	lost: (error) => watch?.lost(side, new Error(innermostReason(error), { cause: error })),
	regained: () => watch?.regained(side),
});

/** Kafka could not be reached, or did not answer. */
export const isNetwork = (error: unknown): boolean =>
	error instanceof NoAnswer ||
	(error instanceof Error &&
		['PLT_KFK_NETWORK', 'PLT_KFK_TIMEOUT'].some((code) => findErrorBy(error, 'code', code) !== null));

export class NoAnswer extends Error {
	constructor(ms: number) {
		super(`no answer from Kafka for ${ms} ms`);
		this.name = 'NoAnswer';
	}
}

/** Rejects after `withinMs`; the request itself may continue. */
export async function answerWithin<T>(withinMs: number, asked: Promise<T>): Promise<T> {
	const patience = Promise.withResolvers<never>();
	const timer = setTimeout(() => patience.reject(new NoAnswer(withinMs)), withinMs);
	try {
		return await Promise.race([asked, patience.promise]);
	} finally {
		clearTimeout(timer);
	}
}
