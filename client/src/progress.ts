/**
 * How far in the stream everything was handled: where to resume from. While missed events arrive, that is where it
 * was before, because read positions come after the messages they count.
 */
export class Progress {
	/** Empty: nowhere; a snapshot is due. */
	position = '';
	private newest = '';
	private owed = 0;
	/** Whether every event up to the position was handled. */
	private isWhole = true;

	/**
	 * What to resume from. Events of one change share a position, and a connection may end between them: after an event, those of
	 * its position are asked for once more.
	 */
	get since(): string {
		if (this.isWhole || this.position === '') return this.position;
		return String(Number(this.position) - 1).padStart(this.position.length, '0');
	}

	/** A fresh snapshot is true at this position. */
	begin(position: string): void {
		this.position = position;
		this.newest = position;
		this.isWhole = true;
	}

	/** A socket said hello at this position, and so many frames follow that were missed. */
	hello(position: string, missed: number): void {
		this.owed = missed;
		this.newest = position > this.position ? position : this.position;
		if (missed > 0) return;
		this.position = this.newest;
		this.isWhole = true;
	}

	/** This event was handled. */
	handled(position: unknown): void {
		// Rows have positions of 32 digits, which are not of the stream.
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
