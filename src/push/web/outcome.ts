import { parseRetryAfter } from '../backoff.ts';
import type { HostAnswer } from '../http2-host.ts';
import type { PushOutcome } from '../provider.ts';

/**
 * What an answer of a push service means (RFC 8030). Ignores the text of the answer, which may repeat the endpoint,
 * and the endpoint is a secret.
 */
export function outcomeOf({ status, headers }: HostAnswer, service: AnsweringService): PushOutcome {
	if (status >= 200 && status < 300) return { type: 'accepted' };
	if (status === 404 || status === 410) return { type: 'gone' };
	const retryAfterMs = parseRetryAfter(String(headers['retry-after'] ?? ''), service.nowMs);
	const later = retryAfterMs === undefined ? {} : { retryAfterMs };
	const error = `${status} by ${service.host}`;
	if (status === 401 || status === 403) {
		// If the service accepts other messages signed with this key, only this subscription was made with another key,
		// which must not pause everyone else.
		if (service.acceptedLately)
			return { type: 'busy', error: `${error}: the subscription was made with another key`, ...later };
		return {
			type: 'unavailable',
			error: `rejected with ${error}: check that TIDEMARK_VAPID_PRIVATE_KEY was not changed, the clock, and TIDEMARK_VAPID_CONTACT`,
			...later,
		};
	}
	// Microsoft's service answers 406 instead of 429.
	if (status === 429 || status === 406 || status >= 500) return { type: 'busy', error, ...later };
	return { type: 'rejected', error };
}

/** The service that answered, and whether it accepted a message in the last minute. */
export interface AnsweringService {
	readonly host: string;
	readonly acceptedLately: boolean;
	readonly nowMs: number;
}
