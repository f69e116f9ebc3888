import {
	type API,
	type Callback,
	type Connection,
	Consumer,
	findErrorBy,
	kGetApi,
	kGetBootstrapConnection,
	kListApis,
	type metadataV12,
	NetworkError,
} from '@platformatic/kafka';

/**
 * A consumer client that continues to work while a broker is down or hangs.
 *
 * - While some partitions of a topic have no leader, the client's own lookup fails entirely, and with it heartbeats, rounds of
 *   the group and fetching from all other partitions. Here such a partition has the leader `NO_LEADER`.
 * - A hanging broker accepts connections but does not answer. The client would wait 30 s for each answer, and ask the same
 *   broker for the coordinator of the group again, forever. Here short requests have a short timeout, and the next request goes
 *   to the next broker.
 */

export const NO_LEADER = -1;

type Response = metadataV12.MetadataResponse;
/** The last argument is the callback. */
type Call = (connection: unknown, ...args: unknown[]) => void;

/** Requests that a working broker answers at once. Others (JoinGroup, Fetch) wait for something to happen. */
const SHORT = new Set(['Metadata', 'FindCoordinator', 'Heartbeat']);
const SHORT_MS = 5_000;

export class LenientConsumer extends Consumer {
	/** Number of requests without an answer: after each one, the next request starts with the next broker. */
	private unanswered = 0;

	override [kGetBootstrapConnection](callback: Callback<Connection>, attempt = 0): void {
		super[kGetBootstrapConnection](callback, attempt + this.unanswered);
	}

	override [kListApis](callback: Parameters<Consumer[typeof kListApis]>[0]): void {
		super[kListApis]((error, apis) => {
			if (error) this.unanswered += 1;
			callback(error, apis);
		});
	}

	override [kGetApi]<Arguments extends unknown[], Result>(
		name: string,
		callback: Callback<API<Arguments, Result>>,
	): void {
		super[kGetApi]<Arguments, Result>(name, (error, api) => {
			if (error || !api || !SHORT.has(name)) callback(error, api);
			else
				callback(
					null,
					lenient(api, name, () => {
						this.unanswered += 1;
					}),
				);
		});
	}
}

function lenient<Arguments extends unknown[], Result>(
	api: API<Arguments, Result>,
	name: string,
	onUnanswered: () => void,
): API<Arguments, Result> {
	const call: Call = (connection, ...args) => {
		const answered = args.pop() as Callback<unknown>;
		let isOver = false;
		const done = (error: Error | null, response?: unknown): void => {
			if (isOver) return;
			isOver = true;
			clearTimeout(limit);
			if (error) answered(error);
			else answered(null, response);
		};
		const limit = setTimeout(() => {
			if (!isOver) onUnanswered();
			done(new NetworkError(`no answer to ${name} within ${SHORT_MS / 1000} s`));
		}, SHORT_MS);
		(api as unknown as Call)(connection, ...args, (error: Error | null, response?: unknown) => {
			if (error && findErrorBy(error, 'code', NetworkError.code)) onUnanswered();
			const partial = error && name === 'Metadata' ? partialResponse(error) : null;
			done(partial ? null : error, partial ?? response);
		});
	};
	return Object.assign(call, {
		async: api.async,
		key: api.key,
		version: api.version,
	}) as unknown as API<Arguments, Result>;
}

/** The response inside the error, if only partitions have errors. Errors of other requests (a rejected sign-in) carry other responses. */
export function partialResponse(error: Error & { readonly response?: Partial<Response> }): Response | null {
	const { response } = error;
	return response?.topics?.every(({ errorCode }) => errorCode === 0) ? (response as Response) : null;
}
