import type { About, Bus } from '../engine/ports/bus.ts';
import type { CountRow, MarkProblem, RowChange, ThreadRow } from '../engine/ports/read-state.ts';
import type { Mark } from '../model/cursor.ts';
import { type ErrorCode, Rejection } from '../model/errors.ts';
import { markedEvent, preferenceEvent, threadMarkedEvent } from '../protocol/events.ts';
import type { LiveEvent } from '../protocol/live-event.ts';
import type { Preference } from './marks.ts';
import type { ReadState } from './read-state.ts';

/**
 * Moves cursors: applies a mark, makes it durable, publishes it to the user's other devices, and then acknowledges it.
 * Marks commute, so a mark does not wait for the owner of the conversation.
 */

export interface MarkAnswer {
	readonly row: CountRow;
	readonly ignored: boolean;
}

const ERROR_OF: Readonly<Record<MarkProblem, ErrorCode>> = {
	not_a_member: 'not_in_channel',
	no_such_message: 'message_not_found',
	not_following: 'not_subscribed',
};

export class Reads {
	constructor(
		private readonly state: ReadState,
		private readonly bus: Bus,
	) {}

	async mark(user: string, conversation: string, mark: Mark): Promise<MarkAnswer> {
		const publish = (row: CountRow) => this.publish(user, markedEvent(row), row.position.user);
		return answered(await this.state.mark(user, conversation, mark, publish));
	}

	async setPreference(user: string, conversation: string, preference: Preference): Promise<MarkAnswer> {
		const publish = (row: CountRow) => this.publish(user, preferenceEvent(row), row.position.user);
		return answered(await this.state.setPreference(user, conversation, preference, publish));
	}

	/** Marks all conversations and threads of the user. */
	async markAllRead(user: string): Promise<void> {
		const { rows } = await this.state.counts(user);
		// Also conversations without unread messages: their cursor moves past messages that do not count.
		const behind = rows.filter(({ lastRead, latest }) => lastRead < latest);
		await Promise.all([
			...behind.map(({ conversation, latest }) =>
				unlessGone(this.mark(user, conversation, { type: 'read', ts: latest })),
			),
			this.markThreadsRead(user, Number.MAX_SAFE_INTEGER),
		]);
	}

	/** Marks every thread that the user follows, up to a ts. */
	async markThreadsRead(user: string, upTo: number): Promise<void> {
		const threads = await this.state.threads(user);
		const behind = threads.filter(({ lastRead, latestReply }) => lastRead < latestReply);
		await Promise.all(
			behind.map(({ conversation, threadTs, latestReply }) =>
				unlessGone(
					this.markThread(user, conversation, threadTs, {
						type: 'read',
						ts: Math.min(latestReply, upTo),
					}),
				),
			),
		);
	}

	/** Moves the cursor of a followed thread, and publishes the new state of threads to the user's devices. */
	async markThread(
		user: string,
		conversation: string,
		threadTs: number,
		mark: { readonly type: 'read' | 'unread'; readonly ts: number },
	): Promise<ThreadRow> {
		const publish = (row: ThreadRow) =>
			this.publish(user, threadMarkedEvent(row), row.position.user, { change: 'threads' });
		const change = await this.state.markThread(user, conversation, threadTs, mark, publish);
		if (typeof change === 'string') throw new Rejection(ERROR_OF[change]);
		await change.durable;
		return change.row;
	}

	private publish(user: string, { wire, subject }: LiveEvent, at: number, about?: About): void {
		const frame = JSON.stringify(wire);
		this.bus.publish(`user:${user}`, { type: 'event', frame, at, subject, ...(about ? { about } : {}) });
	}
}

/** Ignores conversations that were left, and threads that were unfollowed, in the meantime. */
async function unlessGone(marking: Promise<unknown>): Promise<void> {
	try {
		await marking;
	} catch (error) {
		const gone = error instanceof Rejection && ['not_in_channel', 'not_subscribed'].includes(error.code);
		if (!gone) throw error;
	}
}

async function answered(change: RowChange | MarkProblem): Promise<MarkAnswer> {
	if (typeof change === 'string') throw new Rejection(ERROR_OF[change]);
	await change.durable;
	return { row: change.row, ignored: change.ignored };
}
