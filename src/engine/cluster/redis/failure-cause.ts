import type { Cluster, Redis } from 'ioredis';
import { Refusal } from '../../../model/errors.ts';

/**
 * What Redis and its client answer instead of a result, translated once, at the connection: no one behind it reads the words of an
 * error. All other errors are mistakes of ours and stay as they are.
 */

/**
 * Redis cannot be asked for now; the same can be asked again. A change that it was asked for may have taken place: what it is asked
 * for can be repeated (marks, presence, tickets).
 */
export class RedisUnavailable extends Refusal {
	constructor(
		override readonly cause: Error,
		/** The node does not have the slot, or not all slots, of these keys: slots are moving, have moved, or are not served. */
		readonly isElsewhere: boolean,
	) {
		super('service_unavailable', 'Redis does not answer', undefined, cause);
	}
}

/** A script refused to write: the epoch that its caller read in has ended. */
export class EpochOver extends Error {}

/** Of the client: what was sent was not answered, or could not be sent. */
const UNANSWERED = new Set(['MaxRetriesPerRequestError', 'ClusterAllFailedError', 'AbortError']);
const CLIENT_WORDS =
	/Connection is closed|Command timed out|Stream isn't writeable|Failed to refresh slots cache|same slots allocation group|Too many Cluster redirections/;
/** Of a node to a script about keys that it does not have, or that lie in several slots of which some have moved. */
const ELSEWHERE = /non local key|slot not served|cluster is down|is not here yet|CROSSSLOT/;
/** Of a node that cannot answer for now, or was restarted and does not know our scripts yet. */
const NODE_WORDS = /^(LOADING|CLUSTERDOWN|MASTERDOWN|TRYAGAIN|READONLY|BUSY|OOM|MOVED|ASK|NOSCRIPT)\b/;
/** Of our scripts: lua/include/only-in-epoch.lua. */
const OVER = /^OVER /;

export function translated(error: unknown): unknown {
	if (!(error instanceof Error) || error instanceof Refusal) return error;
	const { name, message } = error;
	if (OVER.test(message)) return new EpochOver(message, { cause: error });
	const isElsewhere = ELSEWHERE.test(message);
	const isUnavailable =
		isElsewhere ||
		UNANSWERED.has(name) ||
		CLIENT_WORDS.test(message) ||
		NODE_WORDS.test(message) ||
		/^(ECONN|EPIPE|ETIMEDOUT)/.test(String((error as { code?: unknown }).code ?? ''));
	return isUnavailable ? new RedisUnavailable(error, isElsewhere) : error;
}

/** For reports about Redis itself: what it said. */
export const causeOf = (error: Error): Error => (error instanceof RedisUnavailable ? error.cause : error);

const clients = new WeakMap<object, object>();

/**
 * The same client, with its errors translated; so are those of its nodes. Around the client, not inside: ioredis decides by the
 * words of an error what it sends again.
 */
export function translating<Client extends Redis | Cluster>(client: Client): Client {
	const known = clients.get(client);
	if (known) return known as Client;
	const methods = new Map<string | symbol, unknown>();
	const translate = (error: unknown): never => {
		throw translated(error);
	};
	const methodOf = (name: string | symbol, method: (...args: unknown[]) => unknown) => {
		if (name === 'nodes')
			return (...args: unknown[]) => (method.apply(client, args) as Redis[]).map(translating);
		return (...args: unknown[]) => {
			const result = method.apply(client, args);
			return result instanceof Promise ? result.then(undefined, translate) : result;
		};
	};
	const proxy = new Proxy(client, {
		get(_, name) {
			const value: unknown = Reflect.get(client, name, client);
			if (typeof value !== 'function') return value;
			let method = methods.get(name);
			if (method === undefined) {
				method = methodOf(name, value as (...args: unknown[]) => unknown);
				methods.set(name, method);
			}
			return method;
		},
		// Not of the client: its pipelines call its methods themselves.
		set: (_, name, method) => methods.set(name, method) !== undefined,
	});
	clients.set(client, proxy);
	return proxy;
}
