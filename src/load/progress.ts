/** Progress on standard error: one changing line on a terminal, otherwise a line per second. */

const EVERY_MS = 1_000;
const CLEAR_LINE = '\r\x1b[2K';

export interface Terminal {
	readonly isTTY?: boolean;
	write(text: string): unknown;
}

export class ProgressLine {
	private lastMs: number;
	private isOpen = false;

	constructor(
		private readonly terminal: Terminal,
		private readonly nowMs: () => number,
	) {
		this.lastMs = nowMs();
	}

	/** Prints a line that stays. */
	say(text: string): void {
		this.close();
		this.terminal.write(`${text}\n`);
	}

	/** Shows one of many steps, at most once per second. */
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

	/** Clears the changing line; the report has its figures. */
	close(): void {
		if (this.isOpen) this.terminal.write(CLEAR_LINE);
		this.isOpen = false;
	}
}
