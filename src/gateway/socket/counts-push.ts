import type { About } from '../../engine/ports/bus.ts';
import { countsUpdatedEvent, threadStateEvent } from '../../protocol/events.ts';
import type { JsonObject } from '../../protocol/objects.ts';
import type { ReadState } from '../../unread/read-state.ts';
import type { Connection } from './connection.ts';
import type { UserSession } from './user-session.ts';

/**
 * Sends clients counts that they cannot derive from events: after an edit, a delete or `<!here>`, after a change of
 * membership, and for followed threads. Counts that become due in one turn are sent once. Each frame carries its
 * position or version, so that older counts never overwrite newer ones.
 */

interface Due {
	readonly rows: Set<string>;
	/** Which sockets of the user get the totals of threads: none, those that requested counts, or all. */
	threads: 'none' | 'opted_in' | 'all';
}

/** Counts that became due while the connection was catching up. */
interface Late {
	readonly rows: Set<string>;
	threads: boolean;
}

/** Sessions whose counts are read in one turn of the event loop. */
export const SESSIONS_PER_TURN = 64;
/** Delay before counts that could not be read are tried again. */
const RETRY_MS = 1_000;

export class CountsPush {
	private readonly due = new Map<UserSession, Due>();
	private readonly late = new WeakMap<Connection, Late>();

	constructor(
		private readonly readState: ReadState,
		private readonly failed: (error: unknown) => void,
	) {}

	/** Makes the counts that this change affects due for these sessions. */
	noteChange(sessions: readonly UserSession[], about: About): void {
		if (about.change === 'threads') {
			for (const session of sessions) this.dueOf(session).threads = 'all';
			return;
		}
		const { row, threads } = underivable(about);
		// A post may be counted before its author's cursor has moved. A row that is computed in between has the post and the old cursor, so
		// the author gets the row again.
		const author = about.change === 'posted' && about.inTimeline ? about.author : null;
		if (row === null && !threads && author === null) return;
		for (const session of sessions) {
			const authorsRow = session.user === author ? about.conversation : null;
			if (row === null && !threads && authorsRow === null) continue;
			if (!session.connections.some(({ wantsCounts }) => wantsCounts)) continue;
			const due = this.dueOf(session);
			const conversation = row ?? authorsRow;
			if (conversation !== null) due.rows.add(conversation);
			if (threads && due.threads === 'none') due.threads = 'opted_in';
		}
	}

	/** Called when a client has caught up: sends it the counts that are still due. */
	caughtUp(session: UserSession, connection: Connection, rows: readonly string[], threads: boolean): void {
		const late = this.late.get(connection);
		this.late.delete(connection);
		const to = [connection];
		const due = connection.wantsCounts ? new Set([...rows, ...(late?.rows ?? [])]) : new Set<string>();
		for (const conversation of due)
			this.pushRow(session, conversation, to).catch(this.retryLater(session, rowOf(conversation)));
		if (threads || late?.threads || due.size > 0)
			this.pushThreads(session, to, true).catch(this.retryLater(session, threadsOf('all')));
	}

	private dueOf(session: UserSession): Due {
		const known = this.due.get(session);
		if (known) return known;
		if (this.due.size === 0) setImmediate(() => this.push());
		const due: Due = { rows: new Set(), threads: 'none' };
		this.due.set(session, due);
		return due;
	}

	/** Handles some sessions per turn: a delete in a large channel makes thousands of rows due at once. */
	private push(): void {
		let left = SESSIONS_PER_TURN;
		for (const [session, { rows, threads }] of this.due) {
			this.due.delete(session);
			const { connections } = session;
			for (const conversation of rows)
				this.pushRow(session, conversation, connections).catch(this.retryLater(session, rowOf(conversation)));
			if (threads !== 'none')
				this.pushThreads(session, connections, threads === 'all').catch(
					this.retryLater(session, threadsOf(threads)),
				);
			left -= 1;
			if (left === 0) break;
		}
		if (this.due.size > 0) setImmediate(() => this.push());
	}

	/** Counts that could not be read stay due: no later event would make the client request them. */
	private retryLater(session: UserSession, note: (due: Due) => void): (error: unknown) => void {
		return (error) => {
			this.failed(error);
			setTimeout(() => {
				if (session.connections.length > 0) note(this.dueOf(session));
			}, RETRY_MS).unref?.();
		};
	}

	private async pushRow(
		session: UserSession,
		conversation: string,
		to: readonly Connection[],
	): Promise<void> {
		const row = await this.readState.row(session.user, conversation);
		// Read after the row: if the conversation was archived meanwhile, clients have dropped it and must not get its row.
		const member = row && (await this.readState.member(session.user, conversation));
		// A user who has left has no row; their clients have received an event.
		if (!member || member.archived || !session.isIn(conversation)) return;
		const event = countsUpdatedEvent(row);
		session.onceSent(() => this.send(to, event, false, (late) => late.rows.add(conversation)));
	}

	private async pushThreads(session: UserSession, to: readonly Connection[], toAll: boolean): Promise<void> {
		const { threads, position } = await this.readState.threadTotals(session.user);
		const event = threadStateEvent(threads, position);
		// Sent after held events, because the position of this event may cover them.
		session.onceSent(
			() =>
				this.send(to, event, toAll, (late) => {
					late.threads = true;
				}),
			position,
		);
	}

	/**
	 * For a client that is catching up, only records what is due: this event may be older than events that the client has
	 * yet to receive. `caughtUp` then sends current counts.
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

const threadsOf = (to: 'all' | 'opted_in') => (due: Due) => {
	if (due.threads !== 'all') due.threads = to;
};

/** `row`: the conversation whose counts a client cannot derive from the event. `threads`: whether totals of threads may have changed. */
function underivable(about: Exclude<About, { change: 'threads' }>): { row: string | null; threads: boolean } {
	if (about.change === 'membership') return { row: about.conversation, threads: true };
	const derivable = about.change === 'posted' && !about.here;
	return {
		row: about.inTimeline && !derivable ? about.conversation : null,
		threads: about.threadTs !== null,
	};
}
