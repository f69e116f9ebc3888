import type { Event } from '../live/counts.ts';

/** The position that a client resumes from. It does not rise until all missed events have arrived (docs/resuming.md). */
export class ResumePosition {
	/** Empty: the client needs a snapshot. */
	current = '';
	private newest = '';
	/** Number of missed events that have not arrived. */
	private missed = 0;

	/** Call it for each new connection. */
	connecting(): void {
		this.newest = this.current;
		this.missed = 0;
	}

	receive({ type, position, missed }: Event): void {
		if (typeof position === 'string' && position.length === 16 && position > this.newest)
			this.newest = position;
		if (type === 'hello') this.missed = missed ?? 0;
		else if (this.missed > 0) this.missed -= 1;
		if (this.missed === 0) this.current = this.newest;
	}
}
