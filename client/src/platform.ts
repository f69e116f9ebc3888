import type { ClientOptions, Timers, WebSocketClass } from './public.ts';

/** Network, time and randomness: from the runtime, or from the options, which tests use. */

export interface Platform {
	readonly WebSocket: WebSocketClass;
	readonly fetch: typeof fetch;
	readonly now: () => number;
	readonly random: () => number;
	readonly timers: Timers;
}

const realTimers: Timers = {
	set: (callback, ms) => setTimeout(callback, ms),
	clear: (timer) => clearTimeout(timer as ReturnType<typeof setTimeout>),
};

export function platformOf(options: ClientOptions): Platform {
	const socket = options.WebSocket ?? (globalThis.WebSocket as WebSocketClass | undefined);
	if (!socket)
		throw new TypeError(
			'This platform has no global WebSocket (Node before 22): pass one, for example from `ws`.',
		);
	return {
		WebSocket: socket,
		// Browsers require fetch to be called on `window`.
		fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
		now: options.now ?? Date.now,
		random: options.random ?? Math.random,
		timers: options.timers ?? realTimers,
	} as Platform;
}

export const sleep = ({ timers }: Platform, ms: number): Promise<void> =>
	new Promise((done) => {
		timers.set(done, ms);
	});

/** The address without a trailing slash. */
export function addressOf(options: ClientOptions): string {
	const url = options.url ?? (globalThis as { location?: { origin: string } }).location?.origin;
	if (!url) throw new TypeError('Pass `url`, the address of the server; only web pages have a default.');
	return url.replace(/\/+$/, '');
}
