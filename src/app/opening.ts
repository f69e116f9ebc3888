/** Opens a service that may accept connections and never answer: logs that it waits, and gives up after a limit. */

export interface Opening {
	/** The service and where it is, as in "Redis at localhost:6379". */
	readonly service: string;
	/** It is not waited for any longer; infinite where it may have much to do, as PostgreSQL with a migration. */
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
