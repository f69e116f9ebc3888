import type { About } from '../../engine/ports/bus.ts';
import { countsUpdatedEvent, threadStateEvent } from '../../protocol/events.ts';
import type { JsonObject } from '../../protocol/objects.ts';
import type { ReadState } from '../../unread/read-state.ts';
import type { Connection } from './connection.ts';
import type { UserSession } from './user-session.ts';

/**
 * Sends clients the counts that they cannot derive from their events: what an edit or a delete did to
 * messages they may have read ahead, who a `<!here>` meant, how their threads stand. What is due in one turn
 * is sent once; each carries its position, so that an older one never overwrites a newer one.
 */

interface Due {
	readonly rows: Set<string>;
	threads: 'nobody' | 'opted_in' | 'everybody';
}

/** What came to be due to a connection while it was catching up. */
interface Late {
	readonly rows: Set<string>;
	threads: boolean;
}

/** Sessions whose counts are taken in one turn of the event loop. */
export const SESSIONS_A_TURN = 64;
/** How long to wait before counts are looked up again that could not be. */
const AGAIN_MS = 1_000;

export class CountsPush {
	private readonly due = new Map<UserSession, Due>();
	private readonly late = new WeakMap<Connection, Late>();

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
		// A post can be counted before it has moved its author's read position. A row that is sent in between counts it, so that
		// the client takes the position for moved: the author gets the row once more.
		const author = about.change === 'posted' && about.inTimeline ? about.author : null;
		if (row === null && !threads && author === null) return;
		for (const session of sessions) {
			const ofOwn = session.user === author ? about.conversation : null;
			if (row === null && !threads && ofOwn === null) continue;
			if (!session.connections.some(({ wantsCounts }) => wantsCounts)) continue;
			const due = this.dueOf(session);
			const conversation = row ?? ofOwn;
			if (conversation !== null) due.rows.add(conversation);
			if (threads && due.threads === 'nobody') due.threads = 'opted_in';
		}
	}

	/** A client caught up, with these still due: they are sent to it alone. */
	caughtUp(session: UserSession, connection: Connection, rows: readonly string[], threads: boolean): void {
		const late = this.late.get(connection);
		this.late.delete(connection);
		const to = [connection];
		const due = connection.wantsCounts ? new Set([...rows, ...(late?.rows ?? [])]) : new Set<string>();
		for (const conversation of due)
			this.pushRow(session, conversation, to).catch(this.dueAgain(session, rowOf(conversation)));
		if (threads || late?.threads || due.size > 0)
			this.pushThreads(session.user, to, true).catch(this.dueAgain(session, threadsOf('everybody')));
	}

	private dueOf(session: UserSession): Due {
		const known = this.due.get(session);
		if (known) return known;
		if (this.due.size === 0) setImmediate(() => this.push());
		const due: Due = { rows: new Set(), threads: 'nobody' };
		this.due.set(session, due);
		return due;
	}

	/** Some sessions in each turn: a delete in a large channel makes thousands of rows due at once. */
	private push(): void {
		let left = SESSIONS_A_TURN;
		for (const [session, { rows, threads }] of this.due) {
			this.due.delete(session);
			const { user, connections } = session;
			for (const conversation of rows)
				this.pushRow(session, conversation, connections).catch(this.dueAgain(session, rowOf(conversation)));
			if (threads !== 'nobody')
				this.pushThreads(user, connections, threads === 'everybody').catch(
					this.dueAgain(session, threadsOf(threads)),
				);
			left -= 1;
			if (left === 0) break;
		}
		if (this.due.size > 0) setImmediate(() => this.push());
	}

	/** What could not be looked up stays due: no later event would make the client ask for it. */
	private dueAgain(session: UserSession, note: (due: Due) => void): (error: unknown) => void {
		return (error) => {
			this.failed(error);
			setTimeout(() => {
				if (session.connections.length > 0) note(this.dueOf(session));
			}, AGAIN_MS).unref?.();
		};
	}

	private async pushRow(
		session: UserSession,
		conversation: string,
		to: readonly Connection[],
	): Promise<void> {
		const row = await this.readState.row(session.user, conversation);
		// Asked after the row: an archived conversation has none for clients, which got an event to drop it.
		const member = row && (await this.readState.member(session.user, conversation));
		// A user who left meanwhile got an event for that, and has no row any more.
		if (!member || member.archived || !session.isIn(conversation)) return;
		this.send(to, countsUpdatedEvent(row), false, (late) => late.rows.add(conversation));
	}

	private async pushThreads(user: string, to: readonly Connection[], toAll: boolean): Promise<void> {
		const { threads, stamp } = await this.readState.threadTotals(user);
		this.send(to, threadStateEvent(threads, stamp), toAll, (late) => {
			late.threads = true;
		});
	}

	/**
	 * A client that catches up is sent the current counts afterwards: these may be older than what it missed.
	 * Until then it is noted what is due to it.
	 */
	private send(
		connections: readonly Connection[],
		event: JsonObject,
		toAll: boolean,
		note: (late: Late) => void,
	): void {
		const frame = JSON.stringify(event);
		for (const connection of connections) {
			if (!toAll && !connection.wantsCounts) continue;
			if (!connection.isCatchingUp) {
				connection.send(frame);
				continue;
			}
			const late = this.late.get(connection) ?? { rows: new Set<string>(), threads: false };
			note(late);
			this.late.set(connection, late);
		}
	}
}

const rowOf = (conversation: string) => (due: Due) => void due.rows.add(conversation);

const threadsOf = (to: 'everybody' | 'opted_in') => (due: Due) => {
	if (due.threads !== 'everybody') due.threads = to;
};

/** Of which conversation the row, and whether the threads, cannot be derived from the event. */
function underivable(about: Exclude<About, { change: 'threads' }>): { row: string | null; threads: boolean } {
	if (about.change === 'standing') return { row: about.conversation, threads: true };
	const derivable = about.change === 'posted' && !about.here;
	return {
		row: about.inTimeline && !derivable ? about.conversation : null,
		threads: about.threadTs !== null,
	};
}
