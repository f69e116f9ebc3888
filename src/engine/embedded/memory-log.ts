import type { CommandEntry, CommandHandler, CommandLog, Consumption, LoggedCommand } from '../ports/log.ts';

const PARTITION = 'memory/0';

/** Commands on their way within this process. Everything that has piled up makes the next batch. */
export class MemoryLog implements CommandLog {
	private queue: LoggedCommand[] = [];
	private appended = 0;
	private handler: CommandHandler | undefined;
	private running = false;

	async append(entry: CommandEntry): Promise<void> {
		this.queue.push({ ...entry, partition: PARTITION, offset: this.appended });
		this.appended += 1;
		if (!this.running) this.run();
	}

	/** The one partition is never anybody else's, and what was consumed is gone: an owner has nothing to do. */
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
