import type { About } from '../../engine/ports/bus.ts';
import type { ReadState } from '../../engine/ports/read-state.ts';
import { countsUpdatedEvent, threadStateEvent } from '../../protocol/events.ts';
import type { JsonObject } from '../../protocol/objects.ts';
import type { UserSession } from './user-session.ts';

/**
 * Tells clients counts that they cannot derive from the events they get: what an edit or a delete did to
 * messages they may have read ahead, who a `<!here>` meant, how their threads stand. What is due in one turn
 * is told once; each carries its position, so that an older one never overwrites a newer one.
 */

interface Due {
	readonly rows: Set<string>;
	threads: 'nobody' | 'opted_in' | 'everybody';
}

export class CountsPush {
	private due = new Map<UserSession, Due>();

	constructor(
		private readonly readState: ReadState,
		private readonly failed: (error: unknown) => void,
	) {}

	/** An event went out to these. */
	sent(sessions: readonly UserSession[], about: About): void {
		if (about.change === 'threads') {
			for (const session of sessions) this.dueOf(session).threads = 'everybody';
			return;
		}
		const { row, threads } = underivable(about);
		if (row === null && !threads) return;
		for (const session of sessions) {
			if (!session.connections.some(({ wantsCounts }) => wantsCounts)) continue;
			const due = this.dueOf(session);
			if (row !== null) due.rows.add(row);
			if (threads && due.threads === 'nobody') due.threads = 'opted_in';
		}
	}

	private dueOf(session: UserSession): Due {
		const known = this.due.get(session);
		if (known) return known;
		if (this.due.size === 0) setImmediate(() => this.push());
		const due: Due = { rows: new Set(), threads: 'nobody' };
		this.due.set(session, due);
		return due;
	}

	private push(): void {
		const { due } = this;
		this.due = new Map();
		for (const [session, { rows, threads }] of due) {
			for (const conversation of rows) this.pushRow(session, conversation).catch(this.failed);
			if (threads !== 'nobody') this.pushThreads(session, threads === 'everybody').catch(this.failed);
		}
	}

	private async pushRow(session: UserSession, conversation: string): Promise<void> {
		const row = await this.readState.row(session.user, conversation);
		// Who left while it was looked up was told so, and has no row any more.
		if (!row || !session.conversations?.includes(conversation)) return;
		send(session, countsUpdatedEvent(row), false);
	}

	private async pushThreads(session: UserSession, toAll: boolean): Promise<void> {
		const { threads, stamp } = await this.readState.threadTotals(session.user);
		send(session, threadStateEvent(threads, stamp), toAll);
	}
}

/** Of which conversation the row, and whether the threads, cannot be derived from the event. */
function underivable(about: Exclude<About, { change: 'threads' }>): { row: string | null; threads: boolean } {
	if (about.change === 'standing') return { row: about.conversation, threads: true };
	const derivable = about.change === 'posted' && !about.here;
	return {
		row: about.inTimeline && !derivable ? about.conversation : null,
		threads: about.threadTs !== null,
	};
}

/** A client that catches up is told the counts of now when it has: these may be older than what it missed. */
function send(session: UserSession, event: JsonObject, toAll: boolean): void {
	const frame = JSON.stringify(event);
	for (const connection of session.connections)
		if ((toAll || connection.wantsCounts) && !connection.isCatchingUp) connection.send(frame);
}
