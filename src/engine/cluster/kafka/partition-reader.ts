/**
 * One partition that this process consumes: its fetch position, entries that are fetched but not handled
 * yet, and the running handler, one batch at a time.
 *
 *     starting ──begin──> reading ──stop, or a batch failed──> stopped
 *                            └──takeLast──> draining ──all handled, stop, or a batch failed──> stopped
 */

export interface Logged<Entry> {
	readonly entry: Entry;
	readonly offset: number;
	/** Size in the log. */
	readonly bytes: number;
}

export interface ReaderOptions {
	/** Maximum number of entries per batch. */
	readonly batchLimit: number;
	/** How long the first entry of a batch waits for more. */
	readonly gatherMs: number;
}

/** How much is fetched ahead of the handler, per partition; one fetch can exceed it. */
const BATCHES_AHEAD = 4;
const BYTES_AHEAD = 1_048_576;

export class PartitionReader<Entry> {
	/** The next offset to fetch; null until the start is known. */
	position: number | null = null;
	/** The handler has finished everything before this offset. */
	private handled = 0;
	private buffer: Logged<Entry>[] = [];
	private bytes = 0;
	private running: Promise<void> | null = null;
	private stopped = false;
	/** Why no entry follows those in the buffer. */
	private end: Error | null = null;

	constructor(
		private readonly options: ReaderOptions,
		private readonly handle: (batch: readonly Logged<Entry>[], from: number, to: number) => Promise<void>,
		private readonly failed: (error: unknown) => void,
		/** Called when there is room again. */
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
	 * Adds fetched entries, up to `next` (exclusive). Ignores responses to requests of an earlier reader of the partition: they
	 * may be ahead of this one, which would skip the entries in between.
	 */
	take(asked: number, entries: readonly Logged<Entry>[], next: number | null): void {
		if (this.stopped || asked !== this.position) return;
		// Kafka answers with whole batches, which can begin before the requested offset.
		for (const logged of entries) {
			if (logged.offset < asked) continue;
			this.buffer.push(logged);
			this.bytes += logged.bytes;
		}
		this.position = next;
		this.running ??= this.run();
	}

	/** As `take`, if the next entry cannot be handled: after these entries the reader fails with `end`. */
	takeLast(asked: number, entries: readonly Logged<Entry>[], end: Error): void {
		if (this.stopped || asked !== this.position) return;
		this.end = end;
		this.take(asked, entries, null);
	}

	/** Resolves when no batch is running; drops the rest. */
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
			// Entries after a failed batch must not be handled before it.
			this.halt();
			this.failed(error);
		} finally {
			this.running = null;
		}
	}
}
