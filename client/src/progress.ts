/**
 * The position up to which all events were handled: where to resume from. While missed events arrive, it stays
 * where it was, because marks arrive after the messages that they count.
 */
export class Progress {
	/** Empty: unknown, a snapshot is needed. */
	position = '';
	private newest = '';
	private owed = 0;
	/** Whether every event up to the position was handled. */
	private isWhole = true;

	/**
	 * The position to resume from. Events of one change share a position, and a connection may end between them:
	 * after an event, those with its position are requested again.
	 */
	get since(): string {
		if (this.isWhole || this.position === '') return this.position;
		return String(Number(this.position) - 1).padStart(this.position.length, '0');
	}

	/** A fresh snapshot has this position. */
	begin(position: string): void {
		this.position = position;
		this.newest = position;
		this.isWhole = true;
	}

	/** A socket was opened at this position, and `missed` missed events follow. */
	hello(position: string, missed: number): void {
		this.owed = missed;
		this.newest = position > this.position ? position : this.position;
		if (missed > 0) return;
		this.position = this.newest;
		this.isWhole = true;
	}

	/** An event was handled. */
	handled(position: unknown): void {
		// Rows have positions of 32 digits, which are not positions in the stream.
		if (typeof position === 'string' && position.length === 16 && position > this.newest)
			this.newest = position;
		if (this.owed > 0) this.owed -= 1;
		if (this.owed > 0 || this.position === this.newest) return;
		this.position = this.newest;
		this.isWhole = false;
	}

	get isCaughtUp(): boolean {
		return this.owed === 0;
	}

	forget(): void {
		this.position = '';
	}
}
