import { parseRetryAfter } from '../backoff.ts';
import type { HostAnswer } from '../http2-host.ts';
import type { PushOutcome } from '../provider.ts';

/** What an answer of APNs means for the notification, the device and the account. */

/** Errors of the account or its key: nothing can be sent. */
const ACCOUNT: Readonly<Record<string, string>> = {
	InvalidProviderToken: 'check TIDEMARK_APNS_KEY_FILE, TIDEMARK_APNS_KEY_ID and TIDEMARK_APNS_TEAM_ID',
	MissingProviderToken: 'check TIDEMARK_APNS_KEY_FILE',
	Forbidden: 'the account may not send; check that its key is not revoked',
	ExpiredProviderToken: 'check the clock of this machine',
	TooManyProviderTokenUpdates: 'another server uses the same key',
};

/** Whether APNs rejected the provider token, so that a new one is needed. */
export const rejectsToken = (reason: string): boolean => reason === 'ExpiredProviderToken';

export function reasonIn(body: string): string {
	try {
		const { reason } = JSON.parse(body) as { reason?: unknown };
		return typeof reason === 'string' ? reason.slice(0, 100) : '';
	} catch {
		return '';
	}
}

/**
 * `isOwnApp`: the notification was for the application in TIDEMARK_APNS_TOPIC, which the account must be able to
 * reach.
 */
export function outcomeOf(
	{ status, headers, body }: HostAnswer,
	nowMs: number,
	isOwnApp: boolean,
): PushOutcome {
	if (status === 200) return { type: 'accepted' };
	const reason = reasonIn(body);
	const error = `${status} ${reason}`.trim();
	if (status === 410 || reason === 'BadDeviceToken') return { type: 'gone' };
	const retryAfterMs = parseRetryAfter(String(headers['retry-after'] ?? ''), nowMs);
	const later = retryAfterMs === undefined ? {} : { retryAfterMs };
	if (status === 403 || reason in ACCOUNT) {
		// Clients may register other applications, to which the account may not send: that must not pause everyone
		// else.
		if (!isOwnApp)
			return { type: 'busy', error: `${error} for another app than TIDEMARK_APNS_TOPIC`, ...later };
		const hint = ACCOUNT[reason] ?? 'the account may not send';
		return { type: 'unavailable', error: `rejected with ${error}: ${hint}`, ...later };
	}
	if (status === 429 || status >= 500) return { type: 'busy', error, ...later };
	return { type: 'rejected', error };
}
