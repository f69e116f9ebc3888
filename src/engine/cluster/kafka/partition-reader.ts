/**
 * One partition that this process consumes: its fetch position, records that are fetched but not handled
 * yet, and the running handler, one batch at a time.
 *
 *     starting ──begin──> reading ──stop, or a batch failed──> stopped
 *                            └──takeLast──> draining ──all handled, stop, or a batch failed──> stopped
 */

export interface DecodedRecord<Body> {
	readonly body: Body;
	readonly offset: number;
	/** Size in the log. */
	readonly bytes: number;
}

export interface ReaderOptions {
	/** Maximum number of records per batch. */
	readonly batchLimit: number;
	/** How long the first record of a batch waits for more. */
	readonly gatherMs: number;
}

/** How much is fetched ahead of the handler, per partition; one fetch can exceed it. */
const BATCHES_AHEAD = 4;
const BYTES_AHEAD = 1_048_576;

export class PartitionReader<Body> {
	/** The next offset to fetch; null until the start is known. */
	position: number | null = null;
	/** The handler has finished everything before this offset. */
	private handled = 0;
	private buffer: DecodedRecord<Body>[] = [];
	private bytes = 0;
	private running: Promise<void> | null = null;
	private stopped = false;
	/** Why no record follows those in the buffer. */
	private end: Error | null = null;

	constructor(
		private readonly options: ReaderOptions,
		private readonly handle: (
			batch: readonly DecodedRecord<Body>[],
			from: number,
			to: number,
		) => Promise<void>,
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
	 * Adds fetched records, up to `next` (exclusive). Ignores responses to requests of an earlier reader of the partition: they
	 * may be ahead of this reader, and taking them would skip the records in between.
	 */
	take(asked: number, records: readonly DecodedRecord<Body>[], next: number | null): void {
		if (this.stopped || asked !== this.position) return;
		// Kafka answers with whole batches, which can begin before the requested offset.
		for (const record of records) {
			if (record.offset < asked) continue;
			this.buffer.push(record);
			this.bytes += record.bytes;
		}
		this.position = next;
		// If every fetched record was skipped, there is nothing to run: `run` would clear `running` before
		// this line sets it.
		if (this.buffer.length > 0 || this.end) this.running ??= this.run();
	}

	/** As `take`, if the next record cannot be handled: after these records the reader fails with `end`. */
	takeLast(asked: number, records: readonly DecodedRecord<Body>[], end: Error): void {
		if (this.stopped || asked !== this.position) return;
		this.end = end;
		this.take(asked, records, null);
	}

	/** Resolves when no batch is running. */
	async idle(): Promise<void> {
		await this.running;
	}

	/** Drops records that no batch has yet. Resolves when no batch is running. */
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
			// Records after a failed batch must not be handled before it.
			this.halt();
			this.failed(error);
		} finally {
			this.running = null;
		}
	}
}
