import type { About, Bus } from '../engine/ports/bus.ts';
import type { ChangeRequest, Decided, Views } from '../engine/ports/views.ts';
import {
	applyMark,
	type Mark,
	namesAnyMessageOf,
	oldestTsOf,
	threadReadUpTo,
	threadUnreadFrom,
} from '../model/cursor.ts';
import { type ErrorCode, Rejection } from '../model/errors.ts';
import { type CountRow, countRow, type ThreadRow, threadRow } from '../model/rows.ts';
import type { MemberContext, MembershipView } from '../model/views.ts';
import { markedEvent, preferenceEvent, threadMarkedEvent } from '../protocol/events.ts';
import type { LiveEvent } from '../protocol/live-event.ts';
import { ofConversation, ofThread, type Query } from './queries.ts';
import type { ReadState } from './read-state.ts';

/**
 * Changes a user's own state: decides what a mark does, applies it, makes it durable, publishes it to the user's devices, and
 * then acknowledges it. Read marks with the same revision commute, and every mark is made with compare-and-set, so a mark does not wait
 * for the owner of the conversation.
 */

export type ThreadMark = Pick<Extract<Mark, { type: 'read' | 'unread' }>, 'type' | 'ts'>;
export type Preference = Partial<Pick<MembershipView, 'muted' | 'level'>>;

export interface MarkAnswer<Row = CountRow> {
	readonly row: Row;
	/** The mark carried an older revision and moved nothing. */
	readonly ignored: boolean;
}

export interface OwnDecision extends Decided {
	readonly ignored?: boolean;
}

export interface OwnChange<Row> extends Omit<ChangeRequest<OwnDecision, ErrorCode, Row>, 'onDurable'> {
	/** The error if the user has left the conversation, or does not follow the thread. */
	readonly gone: ErrorCode;
}

/** Later than any change of activity; small enough for `Activity`, which doubles it. */
const BY_NOW = Math.floor(Number.MAX_SAFE_INTEGER / 2) - 1;

export class Marking {
	constructor(
		private readonly views: Views,
		private readonly state: Pick<ReadState, 'counts' | 'threads'>,
		private readonly bus: Pick<Bus, 'publish'>,
	) {}

	mark(user: string, conversation: string, mark: Mark): Promise<MarkAnswer> {
		return this.change(user, markChange(conversation, mark), markedEvent);
	}

	setPreference(user: string, conversation: string, preference: Preference): Promise<MarkAnswer> {
		return this.change(user, preferenceChange(conversation, preference), preferenceEvent);
	}

	/** Moves the cursor of a followed thread, and publishes the new state of threads to the user's devices. */
	async markThread(user: string, conversation: string, threadTs: number, mark: ThreadMark): Promise<void> {
		const change = threadMarkChange(conversation, threadTs, mark);
		await this.change(user, change, threadMarkedEvent, { change: 'threads' });
	}

	/** Marks all conversations and threads of the user. */
	async markAllRead(user: string): Promise<void> {
		const { rows } = await this.state.counts(user);
		// Also conversations without unread messages: their cursor moves past messages that do not count.
		const behind = rows.filter(({ lastRead, latest }) => lastRead < latest);
		const marks = behind.map(({ conversation, latest: ts }) =>
			unlessGone(this.mark(user, conversation, { type: 'read', ts })),
		);
		await Promise.all([...marks, this.markThreadsRead(user, Number.MAX_SAFE_INTEGER)]);
	}

	/** Marks every thread that the user follows, up to a ts. */
	async markThreadsRead(user: string, upTo: number): Promise<void> {
		const threads = await this.state.threads(user);
		const behind = threads.filter(({ lastRead, latestReply }) => lastRead < latestReply);
		await Promise.all(
			behind.map(({ conversation, threadTs, latestReply }) => {
				const mark = { type: 'read', ts: Math.min(latestReply, upTo) } as const;
				return unlessGone(this.markThread(user, conversation, threadTs, mark));
			}),
		);
	}

	/** The user became active (connected and not away) or inactive. Resolves when durable. */
	async setActive(user: string, active: boolean): Promise<void> {
		const change = { type: 'activity', active } as const;
		const changed = await this.views.change<Decided, never, true>(user, {
			scope: {},
			decide: ({ user }) => ({ change, moves: user.activity.isActiveAt(BY_NOW) !== active }),
			showScope: {},
			show: () => true,
			onDurable: () => undefined,
		});
		await changed?.durable;
	}

	private async change<Row extends CountRow | ThreadRow>(
		user: string,
		change: OwnChange<Row>,
		eventOf: (row: Row) => LiveEvent,
		about?: About,
	): Promise<MarkAnswer<Row>> {
		const onDurable = (row: Row): void => {
			const { wire, subject } = eventOf(row);
			const event = { type: 'event', frame: JSON.stringify(wire), at: row.position.user, subject } as const;
			this.bus.publish(`user:${user}`, about ? { ...event, about } : event);
		};
		const changed = await this.views.change<OwnDecision, ErrorCode, Row>(user, { ...change, onDurable });
		if (changed === null || typeof changed === 'string') throw new Rejection(changed ?? change.gone);
		await changed.durable;
		return { row: changed.shown, ignored: changed.decided.ignored ?? false };
	}
}

/** Ignores conversations that were left, and threads that were unfollowed, in the meantime. */
const unlessGone = (marking: Promise<unknown>): Promise<unknown> =>
	marking.catch((error) => {
		const gone = error instanceof Rejection && ['not_in_channel', 'not_subscribed'].includes(error.code);
		if (!gone) throw error;
	});

export function markChange(conversation: string, mark: Mark): OwnChange<CountRow> {
	const decide = ({ user, conversation: { timeline }, membership }: MemberContext) => {
		if (!namesAnyMessageOf(mark, timeline)) return 'message_not_found';
		const { cursor: ts, revision, ahead } = membership;
		const before = { ts, revision, ahead };
		const { cursor, ignored } = applyMark(before, mark, timeline, user.number);
		return { change: { type: 'cursor', conversation, cursor }, moves: cursor !== before, ignored } as const;
	};
	const decision = ofConversation(conversation, decide, (membership) => neededBy(mark, membership));
	return ownChange('not_in_channel', decision, ofConversation(conversation, countRow));
}

/**
 * The ts after which the mark needs entries loaded. A `read` mark needs none before its target: it only needs `timeline.latest`,
 * and counting starts at the new cursor.
 */
function neededBy(mark: Mark, { cursor, revision }: MembershipView): number {
	if (mark.type !== 'read') return Math.min(cursor, oldestTsOf(mark) - 1);
	const isOutdated = mark.revision !== undefined && mark.revision < revision;
	return isOutdated ? cursor : Math.max(cursor, mark.ts);
}

export function preferenceChange(conversation: string, preference: Preference): OwnChange<CountRow> {
	const decision = ofConversation(conversation, ({ membership }) => {
		const { muted = membership.muted, level = membership.level } = preference;
		const moves = muted !== membership.muted || level !== membership.level;
		return { change: { type: 'preference', conversation, muted, level }, moves } as const;
	});
	return ownChange('not_in_channel', decision, ofConversation(conversation, countRow));
}

export function threadMarkChange(
	conversation: string,
	threadTs: number,
	{ type, ts }: ThreadMark,
): OwnChange<ThreadRow> {
	const decision = ofThread(conversation, threadTs, ({ thread, follow }) => {
		if (type === 'unread' && thread.indexOf(ts) < 0) return 'message_not_found';
		const cursor =
			type === 'read'
				? threadReadUpTo(follow.cursor, ts, thread.latest)
				: threadUnreadFrom(follow.cursor, ts);
		const change = { type: 'thread_cursor', conversation, threadTs, cursor } as const;
		return { change, moves: cursor !== follow.cursor };
	});
	return ownChange('not_subscribed', decision, ofThread(conversation, threadTs, threadRow));
}

const ownChange = <Row>(
	gone: ErrorCode,
	decision: Query<OwnDecision | ErrorCode>,
	row: Query<Row>,
): OwnChange<Row> => ({
	gone,
	scope: decision,
	decide: (views) => decision.answer(views) ?? gone,
	showScope: row,
	show: row.answer,
});
