import { type API, type Callback, Consumer, kGetApi, type metadataV12 } from '@platformatic/kafka';

/**
 * A consumer client that learns what there is to learn about a topic while some of its partitions have no leader. The client's own
 * look-up fails as a whole then, and with it heartbeats, rounds of the group and fetching from all the other partitions.
 * A partition without a leader has `NO_LEADER`.
 */

export const NO_LEADER = -1;

type Response = metadataV12.MetadataResponse;
/** The last argument is the callback. */
type Call = (connection: unknown, ...args: unknown[]) => void;

export class LenientConsumer extends Consumer {
	override [kGetApi]<Arguments extends unknown[], Result>(
		name: string,
		callback: Callback<API<Arguments, Result>>,
	): void {
		super[kGetApi]<Arguments, Result>(name, (error, api) => {
			if (error || !api || name !== 'Metadata') callback(error, api);
			else callback(null, lenient(api));
		});
	}
}

function lenient<Arguments extends unknown[], Result>(api: API<Arguments, Result>): API<Arguments, Result> {
	const call: Call = (connection, ...args) => {
		const done = args.pop() as Callback<Response>;
		(api as unknown as Call)(connection, ...args, (error: Error | null, response?: Response) => {
			const partial = error && topicsAreThere(error);
			if (partial) done(null, partial);
			else done(error, response);
		});
	};
	return Object.assign(call, {
		async: api.async,
		key: api.key,
		version: api.version,
	}) as unknown as API<Arguments, Result>;
}

/** The answer that comes with the error, where nothing but partitions has errors in it. */
function topicsAreThere(error: Error & { readonly response?: Response }): Response | null {
	const { response } = error;
	return response?.topics.every(({ errorCode }) => errorCode === 0) ? response : null;
}
