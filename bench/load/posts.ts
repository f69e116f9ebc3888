import { Latencies } from '../../src/load/latencies.ts';
import { HttpPoster } from './http-poster.ts';
import { SocketPoster } from './socket-poster.ts';

/**
 * The load generator: a separate process that posts as fast as it gets answers, with a fixed number of posts in flight.
 * It prints `ready` when it is connected and warm, starts on command, and prints its results.
 */

export interface LoadSpec {
	readonly kind: 'http' | 'socket';
	readonly port: number;
	/** One connection for each. */
	readonly connections: readonly {
		readonly token: string;
		readonly channel: string;
		readonly ticket?: string;
		/** No two connections use the same ids. */
		readonly firstId: number;
	}[];
	/** Posts in flight per connection; over HTTP always one. */
	readonly inFlight: number;
	readonly warmUp: number;
	readonly count: number;
	readonly text: string;
	/** Each post has its own client_msg_id, which the server remembers. */
	readonly clientMsgIds: boolean;
}

export interface LoadReport {
	readonly acknowledged: number;
	readonly rejected: number;
	readonly seconds: number;
	readonly p50Ms: number;
	readonly p99Ms: number;
}

/** Hands out posts to send, and knows when all of them were answered. */
export class Quota {
	private unsent = 0;
	private unanswered = 0;
	private finished: () => void = () => undefined;
	rejected = 0;
	latencies = new Latencies();

	begin(count: number): Promise<void> {
		this.unsent = count;
		this.unanswered = count;
		this.rejected = 0;
		this.latencies = new Latencies();
		return new Promise((resolve) => {
			this.finished = resolve;
		});
	}

	/** Returns how many of the wanted posts may be sent. */
	take(wanted: number): number {
		const granted = Math.min(wanted, this.unsent);
		this.unsent -= granted;
		return granted;
	}

	answered(ok: boolean, ms: number): void {
		if (!ok) this.rejected += 1;
		this.latencies.add(ms);
		this.unanswered -= 1;
		if (this.unanswered === 0) this.finished();
	}
}

if (import.meta.main) {
	const lines = console[Symbol.asyncIterator]();
	const spec = JSON.parse((await lines.next()).value ?? '') as LoadSpec;
	const quota = new Quota();
	const open = spec.kind === 'http' ? HttpPoster.open : SocketPoster.open;
	const posters = await Promise.all(spec.connections.map((one) => open(spec, one, quota)));
	const run = async (count: number): Promise<void> => {
		const done = quota.begin(count);
		for (const poster of posters) poster.fill();
		await done;
	};
	await run(spec.warmUp);
	console.log('ready');
	while (!(await lines.next()).done) {
		const started = performance.now();
		await run(spec.count);
		const report: LoadReport = {
			acknowledged: spec.count - quota.rejected,
			rejected: quota.rejected,
			seconds: (performance.now() - started) / 1000,
			p50Ms: quota.latencies.quantile(0.5),
			p99Ms: quota.latencies.quantile(0.99),
		};
		console.log(JSON.stringify(report));
	}
	process.exit(0);
}
