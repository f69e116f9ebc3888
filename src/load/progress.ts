/** What is going on meanwhile, on standard error: one line that changes on a terminal, else a line for each second. */

const EVERY_MS = 1_000;
const CLEAR_LINE = '\r\x1b[2K';

export interface Terminal {
	readonly isTTY?: boolean;
	write(text: string): unknown;
}

export class Progress {
	private lastMs: number;
	private isOpen = false;

	constructor(
		private readonly terminal: Terminal,
		private readonly nowMs: () => number,
	) {
		this.lastMs = nowMs();
	}

	/** Something that stays to be read. */
	say(text: string): void {
		this.close();
		this.terminal.write(`${text}\n`);
	}

	/** One of many steps: shown once a second at most. */
	step = (text: string): void => {
		if (this.nowMs() - this.lastMs < EVERY_MS) return;
		this.lastMs = this.nowMs();
		this.show(text);
	};

	show(text: string): void {
		if (!this.terminal.isTTY) {
			this.terminal.write(`${text}\n`);
			return;
		}
		this.terminal.write(`${CLEAR_LINE}${text}`);
		this.isOpen = true;
	}

	/** The line that changed is gone: what it said is in the report. */
	close(): void {
		if (this.isOpen) this.terminal.write(CLEAR_LINE);
		this.isOpen = false;
	}
}
