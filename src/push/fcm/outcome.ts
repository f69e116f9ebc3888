import { parseRetryAfter } from '../backoff.ts';
import type { HostAnswer } from '../http2-host.ts';
import type { PushOutcome } from '../provider.ts';

/** What an answer of FCM means for the notification, the device and the account. */

interface FcmError {
	readonly error?: {
		readonly status?: string;
		readonly details?: readonly { readonly '@type'?: string; readonly errorCode?: string }[];
	};
}

/** FCM's own error code if there is one, otherwise the status of the answer. */
function codeIn(body: string): string {
	try {
		const { error } = JSON.parse(body) as FcmError;
		const detail = error?.details?.find(({ errorCode }) => typeof errorCode === 'string');
		return String(detail?.errorCode ?? error?.status ?? '').slice(0, 100);
	} catch {
		return '';
	}
}

export function outcomeOf({ status, headers, body }: HostAnswer, nowMs: number): PushOutcome {
	if (status === 200) return { type: 'accepted' };
	const code = codeIn(body);
	const error = `${status} ${code}`.trim();
	if (code === 'UNREGISTERED') return { type: 'gone' };
	const retryAfterMs = parseRetryAfter(String(headers['retry-after'] ?? ''), nowMs);
	const later = retryAfterMs === undefined ? {} : { retryAfterMs };
	if (code === 'SENDER_ID_MISMATCH') return { type: 'rejected', error };
	if (status === 401 || status === 403)
		return {
			type: 'unavailable',
			error: `rejected with ${error}: check TIDEMARK_FCM_SERVICE_ACCOUNT_FILE, and that the account is not revoked`,
			...later,
		};
	if (status === 429 || status >= 500) return { type: 'busy', error, ...later };
	return { type: 'rejected', error };
}
