/**
 * Opens a service with a time limit, because the service may accept connections and never answer. Logs a line if the answer takes long.
 */

export interface OpenOptions {
	/** Name and address, as in "Redis at localhost:6379". */
	readonly service: string;
	/** Infinite for steps that may take long, such as a PostgreSQL migration. */
	readonly timeoutMs: number;
	readonly log: (what: string) => void;
	/** For tests. */
	readonly logAfterMs?: number;
}

const LOG_AFTER_MS = 5_000;

export async function openWithTimeout<T>(options: OpenOptions, open: () => Promise<T>): Promise<T> {
	const { service, timeoutMs, log, logAfterMs = LOG_AFTER_MS } = options;
	const timeout = Promise.withResolvers<never>();
	const timers = [setTimeout(() => log(`Waiting for ${service}: no answer yet`), logAfterMs)];
	if (Number.isFinite(timeoutMs))
		timers.push(
			setTimeout(
				() => timeout.reject(new Error(`${service} has not answered within ${timeoutMs / 1000} s`)),
				timeoutMs,
			),
		);
	try {
		return await Promise.race([open(), timeout.promise]);
	} finally {
		for (const timer of timers) clearTimeout(timer);
	}
}
