import type { CommandHandler, CommandLog, CommandRecord, Consumption, LoggedCommand } from '../ports/log.ts';

const PARTITION = 'memory/0';

/** The log inside one process. Commands that arrive while a batch runs form the next batch. */
export class MemoryLog implements CommandLog {
	private queue: LoggedCommand[] = [];
	private appended = 0;
	private handler: CommandHandler | undefined;
	private running = false;

	async append(record: CommandRecord): Promise<void> {
		this.queue.push({ ...record, partition: PARTITION, offset: this.appended });
		this.appended += 1;
		if (!this.running) this.run();
	}

	/** The single partition is never reassigned and consumed commands are dropped, so no owner is needed. */
	consume(handler: CommandHandler): Consumption {
		this.handler = handler;
		if (!this.running) this.run();
		return { restart: () => undefined };
	}

	private async run(): Promise<void> {
		if (!this.handler) return;
		this.running = true;
		try {
			while (this.queue.length > 0) {
				const batch = this.queue;
				this.queue = [];
				const [from, to] = [this.appended - batch.length, this.appended];
				await this.handler(batch, { partition: PARTITION, from, to });
			}
		} finally {
			this.running = false;
		}
	}
}
