/**
 * Opens a service with a time limit, because it may accept connections and never answer. Logs that it waits.
 */

export interface Opening {
	/** Name and address, as in "Redis at localhost:6379". */
	readonly service: string;
	/** Infinite for steps that may take long, such as a PostgreSQL migration. */
	readonly withinMs: number;
	readonly log: (what: string) => void;
	/** For tests. */
	readonly logAfterMs?: number;
}

const LOG_AFTER_MS = 5_000;

export async function opening<T>(options: Opening, open: () => Promise<T>): Promise<T> {
	const { service, withinMs, log, logAfterMs = LOG_AFTER_MS } = options;
	const timeout = Promise.withResolvers<never>();
	const timers = [setTimeout(() => log(`Waiting for ${service}: no answer yet`), logAfterMs)];
	if (Number.isFinite(withinMs))
		timers.push(
			setTimeout(
				() => timeout.reject(new Error(`${service} has not answered within ${withinMs / 1000} s`)),
				withinMs,
			),
		);
	try {
		return await Promise.race([open(), timeout.promise]);
	} finally {
		for (const timer of timers) clearTimeout(timer);
	}
}
