import { tracingChannel } from 'node:diagnostics_channel';

/**
 * Adds `hasSubscribers` to tracing channels, as in Node. Bun lacks it, so ioredis assumes that its channels have subscribers, and describes
 * every command for them: a command then takes 6 µs of CPU instead of 3.4 µs. Importing this module is enough.
 */

type Tracing = ReturnType<typeof tracingChannel>;

const prototype = Object.getPrototypeOf(tracingChannel('tidemark')) as Tracing;
if (!('hasSubscribers' in prototype))
	Object.defineProperty(prototype, 'hasSubscribers', {
		get(this: Tracing): boolean {
			const { start, end, asyncStart, asyncEnd, error } = this;
			return [start, end, asyncStart, asyncEnd, error].some((channel) => channel.hasSubscribers);
		},
	});
