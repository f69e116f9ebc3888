import type { CommandEntry, CommandLog } from '../ports/log.ts';

/** Commands on their way within this process. Everything that has piled up makes the next batch. */
export class MemoryLog implements CommandLog {
	private queue: CommandEntry[] = [];
	private handler: ((batch: readonly CommandEntry[]) => Promise<void>) | undefined;
	private running = false;

	async append(entry: CommandEntry): Promise<void> {
		this.queue.push(entry);
		if (!this.running) this.run();
	}

	consume(handler: (batch: readonly CommandEntry[]) => Promise<void>): void {
		this.handler = handler;
		if (!this.running) this.run();
	}

	private async run(): Promise<void> {
		if (!this.handler) return;
		this.running = true;
		try {
			while (this.queue.length > 0) {
				const batch = this.queue;
				this.queue = [];
				await this.handler(batch);
			}
		} finally {
			this.running = false;
		}
	}
}
