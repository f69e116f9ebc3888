import { Refusal } from '../../../model/errors.ts';

/**
 * Tells that Redis cannot be asked from everything else that may go wrong: whoever asked may ask again. A change that it was
 * asked for may have taken place; what comes here can be repeated (marks, presence, tickets).
 */

/** Of the client: what was sent was not answered, or could not be sent. */
const UNANSWERED = new Set(['MaxRetriesPerRequestError', 'ClusterAllFailedError', 'AbortError']);
const CLIENT_WORDS =
	/Connection is closed|Command timed out|Stream isn't writeable|Failed to refresh slots cache|same slots allocation group|Too many Cluster redirections/;
/** Of a node to a script about keys that it does not have: slots are moving, have moved, or nobody has them for now. */
const ELSEWHERE = /non local key|slot not served|cluster is down|is not here yet/;
/** The same, or keys of several slots in one command: then each is told, or led, in its own way. */
export const NOT_HERE = new RegExp(`${ELSEWHERE.source}|CROSSSLOT`);
/** Of a node that cannot answer for now, or was started anew and does not know our scripts yet. */
const NODE_WORDS = new RegExp(
	`^(LOADING|CLUSTERDOWN|MASTERDOWN|TRYAGAIN|READONLY|BUSY|OOM|MOVED|ASK|NOSCRIPT)\\b|${ELSEWHERE.source}`,
);

function refusalOf(error: unknown): unknown {
	if (!(error instanceof Error) || error instanceof Refusal) return error;
	const isAway =
		UNANSWERED.has(error.name) ||
		CLIENT_WORDS.test(error.message) ||
		NODE_WORDS.test(error.message) ||
		/^(ECONN|EPIPE|ETIMEDOUT)/.test(String((error as { code?: unknown }).code ?? ''));
	if (!isAway) return error;
	const refusal = new Refusal('service_unavailable', `Redis cannot be asked: ${error.message}`);
	refusal.cause = error;
	return refusal;
}

/** The same, whose promises are refused with `service_unavailable` where Redis cannot be asked. */
export function refusing<Target extends object>(target: Target): Target {
	return new Proxy(target, {
		get(of, name) {
			const value = Reflect.get(of, name, of);
			if (typeof value !== 'function') return value;
			return (...args: unknown[]) => {
				const result = value.apply(of, args);
				if (!(result instanceof Promise)) return result;
				return result.catch((error) => {
					throw refusalOf(error);
				});
			};
		},
	});
}
