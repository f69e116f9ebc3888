import type { Cluster, Redis } from 'ioredis';
import { Rejection } from '../../../model/errors.ts';

/**
 * Translates errors of Redis and its client once, at the connection, so that no other code inspects error messages. All other
 * errors are bugs of Tidemark, and stay unchanged.
 */

/**
 * Redis is unavailable; the request can be retried. A requested change may have happened: all requests
 * can be repeated safely (marks, presence, tickets).
 */
export class RedisUnavailable extends Rejection {
	constructor(
		override readonly cause: Error,
		/** The asked node does not serve every slot of the keys: a slot is moving, has moved, or is served by no node. */
		readonly isElsewhere: boolean,
	) {
		super('service_unavailable', 'Redis does not answer', undefined, cause);
	}
}

/** A script was rejected: the epoch that its caller knew has ended. */
export class EpochOver extends Error {}

/** Errors of the client: a command could not be sent, or got no answer. */
const UNANSWERED = new Set(['MaxRetriesPerRequestError', 'ClusterAllFailedError', 'AbortError']);
const CLIENT_WORDS =
	/Connection is closed|Command timed out|Stream isn't writeable|Failed to refresh slots cache|same slots allocation group|Too many Cluster redirections/;
/** Errors of a node about keys that it does not have, or that are in several slots of which some have moved. */
const ELSEWHERE = /non local key|slot not served|cluster is down|are not here yet|CROSSSLOT/;
/** Errors of a node that cannot answer now, or was restarted and does not know our scripts yet. */
const NODE_WORDS = /^(LOADING|CLUSTERDOWN|MASTERDOWN|TRYAGAIN|READONLY|BUSY|OOM|MOVED|ASK|NOSCRIPT)\b/;
/** Errors of our scripts: lua/include/only-in-epoch.lua. */
const OVER = /^OVER /;

export function translated(error: unknown): unknown {
	if (!(error instanceof Error) || error instanceof Rejection) return error;
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

/** The original error, for reports about Redis itself. */
export const causeOf = (error: Error): Error => (error instanceof RedisUnavailable ? error.cause : error);

/** Whether the slot is at another node: the request can be sent again, to that one. */
export const isElsewhere = (error: unknown): boolean =>
	error instanceof RedisUnavailable && error.isElsewhere;

const clients = new WeakMap<object, object>();

/**
 * Wraps the client, and its nodes, to translate their errors. Outside of the client, because ioredis decides by the
 * message of an error what to retry.
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
		// For tests that replace a method: the client's own pipelines keep the original.
		set: (_, name, method) => methods.set(name, method) !== undefined,
	});
	clients.set(client, proxy);
	return proxy;
}
