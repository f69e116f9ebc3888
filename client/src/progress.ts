/**
 * How far the client has handled events: all before `position`, and if `isComplete` also those at `position`. The
 * position does not rise while missed events arrive, because they do not arrive in the order of their positions: marks
 * come after all messages.
 */
export class Progress {
	/** Empty if unknown: then the client needs a snapshot. */
	position = '';
	private newest = '';
	/** Number of missed events that have not arrived yet. */
	private missed = 0;
	/** Whether all events with this position were handled; false if there may be more of them. */
	private isComplete = true;

	/**
	 * The position to resume from. Events of one change share a position, and a connection may end between them. So
	 * after an event, the client resumes one position earlier, and gets all events of that change again.
	 */
	get since(): string {
		if (this.isComplete || this.position === '') return this.position;
		return String(Number(this.position) - 1).padStart(this.position.length, '0');
	}

	/** Starts at the position of a fresh snapshot. */
	begin(position: string): void {
		this.position = position;
		this.newest = position;
		this.isComplete = true;
	}

	/** The server opened a socket at this position. `missed`: the number of missed events that it sends next. */
	hello(position: string, missed: number): void {
		this.missed = missed;
		this.newest = position > this.position ? position : this.position;
		if (missed > 0) return;
		this.position = this.newest;
		this.isComplete = true;
	}

	/** An event was handled. */
	handled(position: unknown): void {
		// Positions of rows have 32 digits, and a client cannot resume from them.
		if (typeof position === 'string' && position.length === 16 && position > this.newest)
			this.newest = position;
		if (this.missed > 0) this.missed -= 1;
		if (this.missed > 0 || this.position === this.newest) return;
		this.position = this.newest;
		this.isComplete = false;
	}

	get isCaughtUp(): boolean {
		return this.missed === 0;
	}

	forget(): void {
		this.position = '';
	}
}
