/**
 * One partition that this process consumes: where it is to be fetched from, what was fetched and not handled
 * yet, and the handler at work on it, one batch at a time.
 *
 *     starting ──begin──> reading ──stop, or a batch that failed──> stopped
 *                            └──takeLast──> draining ──everything handled, stop, or a batch that failed──> stopped
 */

export interface Logged<Entry> {
	readonly entry: Entry;
	readonly offset: number;
	/** As it lies in the log. */
	readonly bytes: number;
}

export interface ReaderOptions {
	/** Entries of a batch at most. */
	readonly batchLimit: number;
	/** How long the first entry of a batch waits for others. */
	readonly gatherMs: number;
}

/** Of each partition, as many batches are fetched ahead of the handler, or as much; what one fetch brings may exceed it. */
const BATCHES_AHEAD = 4;
const BYTES_AHEAD = 1_048_576;

export class PartitionReader<Entry> {
	/** The next offset to fetch; null until it is known where to begin. */
	position: number | null = null;
	/** Up to where (exclusive) the handler was done. */
	private handled = 0;
	private buffer: Logged<Entry>[] = [];
	private bytes = 0;
	private running: Promise<void> | null = null;
	private stopped = false;
	/** Why nothing comes after what is in the buffer. */
	private end: Error | null = null;

	constructor(
		private readonly options: ReaderOptions,
		private readonly handle: (batch: readonly Logged<Entry>[], from: number, to: number) => Promise<void>,
		private readonly failed: (error: unknown) => void,
		/** There is room again for what comes next. */
		private readonly drained: () => void,
	) {}

	get isStopped(): boolean {
		return this.stopped;
	}

	get isFull(): boolean {
		return this.buffer.length >= this.options.batchLimit * BATCHES_AHEAD || this.bytes >= BYTES_AHEAD;
	}

	begin(offset: number): void {
		if (this.stopped) return;
		this.position = offset;
		this.handled = offset;
	}

	/**
	 * Takes what was fetched, up to `next` (exclusive). An answer to what an earlier reader of the partition asked
	 * for is of no use: it may lie ahead of this one, which would pass over what is in between.
	 */
	take(asked: number, entries: readonly Logged<Entry>[], next: number | null): void {
		if (this.stopped || asked !== this.position) return;
		// Kafka answers with whole batches, which may begin before what was asked for.
		for (const logged of entries) {
			if (logged.offset < asked) continue;
			this.buffer.push(logged);
			this.bytes += logged.bytes;
		}
		this.position = next;
		this.running ??= this.run();
	}

	/** Likewise, where what comes next cannot be handled: when these are, the reader fails with that. */
	takeLast(asked: number, entries: readonly Logged<Entry>[], end: Error): void {
		if (this.stopped || asked !== this.position) return;
		this.end = end;
		this.take(asked, entries, null);
	}

	/** Resolves when no batch is under way any more; what is left over is dropped. */
	async stop(): Promise<void> {
		this.halt();
		await this.running;
	}

	private halt(): void {
		this.stopped = true;
		this.position = null;
		this.buffer = [];
	}

	private async run(): Promise<void> {
		try {
			while (!this.stopped && this.buffer.length > 0) {
				if (this.options.gatherMs > 0 && this.buffer.length < this.options.batchLimit)
					await Bun.sleep(this.options.gatherMs);
				if (this.stopped) return;
				const wasFull = this.isFull;
				const batch = this.buffer.splice(0, this.options.batchLimit);
				for (const { bytes } of batch) this.bytes -= bytes;
				if (wasFull && !this.isFull) this.drained();
				const to = (batch.at(-1)?.offset ?? this.handled) + 1;
				await this.handle(batch, this.handled, to);
				this.handled = to;
			}
			if (this.end && !this.stopped) throw this.end;
		} catch (error) {
			// What comes after a batch that failed must not be handled before it.
			this.halt();
			this.failed(error);
		} finally {
			this.running = null;
		}
	}
}
