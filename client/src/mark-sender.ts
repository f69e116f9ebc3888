import { backoffMs } from './backoff.ts';
import { ApiError } from './errors.ts';
import { type Platform, sleep } from './platform.ts';

/**
 * Sends marks while there is a connection, one at a time per conversation or thread. Retries after a lost answer, and
 * waits longer after each failure in a row.
 */

export interface MarkSenderParts {
	readonly platform: Platform;
	readonly isOnline: () => boolean;
}

export class MarkSender {
	private readonly inFlight = new Set<string>();

	constructor(
		private readonly parts: MarkSenderParts,
		private readonly isWaiting: (key: string) => boolean,
		/** Rejects with an ApiError if the mark has to be sent again. */
		private readonly send: (key: string) => Promise<void>,
	) {}

	async pump(key: string): Promise<void> {
		if (this.inFlight.has(key)) return;
		this.inFlight.add(key);
		const { platform, isOnline } = this.parts;
		for (let failures = 0; this.isWaiting(key) && isOnline(); )
			try {
				await this.send(key);
				failures = 0;
			} catch (error) {
				await sleep(platform, (error as ApiError).retryAfterMs + backoffMs(failures, platform.random));
				failures += 1;
			}
		this.inFlight.delete(key);
	}
}

export const isRepeatable = (error: unknown): error is ApiError =>
	error instanceof ApiError && error.retry !== 'no';
