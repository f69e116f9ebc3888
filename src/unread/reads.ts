import type { Bus } from '../engine/ports/bus.ts';
import type { NotificationLevel } from '../engine/ports/facts.ts';
import type { CountRow, MarkProblem, ReadState, RowChange } from '../engine/ports/read-state.ts';
import type { Mark } from '../model/cursor.ts';
import { type ErrorCode, Refusal } from '../model/errors.ts';
import { markedEvent, preferenceEvent } from '../protocol/events.ts';
import type { JsonObject } from '../protocol/objects.ts';

/**
 * Moves read positions: applied at once, made durable, told to the user's other devices, and only then
 * acknowledged. A mark is a merge, so none of it waits for the conversation's owner.
 */

export interface MarkAnswer {
	readonly row: CountRow;
	readonly ignored: boolean;
}

const REFUSED_WITH: Readonly<Record<MarkProblem, ErrorCode>> = {
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
		return this.settle(user, await this.state.mark(user, conversation, mark), markedEvent);
	}

	async setPreference(
		user: string,
		conversation: string,
		preference: { readonly muted?: boolean; readonly level?: NotificationLevel },
	): Promise<MarkAnswer> {
		const change = await this.state.setPreference(user, conversation, preference);
		return this.settle(user, change, preferenceEvent);
	}

	/** Everything the user has, conversations and threads, as of now. */
	async markAllRead(user: string): Promise<void> {
		const { rows } = await this.state.counts(user);
		const unread = rows.filter((row) => row.unread > 0);
		await Promise.all(
			unread.map((row) => this.mark(user, row.conversation, { type: 'read', ts: row.latest })),
		);
	}

	private async settle(
		user: string,
		change: RowChange | MarkProblem,
		describe: (row: CountRow) => JsonObject,
	): Promise<MarkAnswer> {
		if (typeof change === 'string') throw new Refusal(REFUSED_WITH[change]);
		// Hung directly on the change's own promise: that is what keeps events in the order of their stamps.
		await change.durable?.then(() =>
			this.bus.publish(`user:${user}`, { type: 'event', frame: JSON.stringify(describe(change.row)) }),
		);
		return { row: change.row, ignored: change.ignored };
	}
}
