import { parseRetryAfter } from '../backoff.ts';
import type { HostAnswer } from '../http2-host.ts';
import type { Outcome } from '../provider.ts';

/**
 * What an answer of a push service means (RFC 8030). What it says in words is left out: it may repeat the address,
 * which is a secret.
 */
export function outcomeOf({ status, headers }: HostAnswer, service: Service): Outcome {
	if (status >= 200 && status < 300) return { type: 'accepted' };
	if (status === 404 || status === 410) return { type: 'gone' };
	const retryAfterMs = parseRetryAfter(String(headers['retry-after'] ?? ''), service.nowMs);
	const later = retryAfterMs === undefined ? {} : { retryAfterMs };
	const error = `${status} by ${service.host}`;
	if (status === 401 || status === 403) {
		// A service that takes others of the same key refuses this subscription, which was made with another one: somebody
		// who registers such a one must not stop everybody's.
		if (service.tookLately) return { type: 'busy', error: `${error}: subscribed with another key`, ...later };
		return {
			type: 'away',
			error: `refused with ${error}: was TIDEMARK_VAPID_PRIVATE_KEY changed? Is the clock right, and TIDEMARK_VAPID_CONTACT?`,
			...later,
		};
	}
	// That of Windows says so with 406.
	if (status === 429 || status === 406 || status >= 500) return { type: 'busy', error, ...later };
	return { type: 'refused', error };
}

/** Who answers, and whether it took something of ours in the last minute. */
export interface Service {
	readonly host: string;
	readonly tookLately: boolean;
	readonly nowMs: number;
}
