import {
	applyMark,
	type Cursor,
	isAboutAny,
	type Mark,
	threadReadUpTo,
	threadUnreadFrom,
} from '../../../../model/cursor.ts';
import type { Clock } from '../../../../model/ts.ts';
import type { NotificationLevel, ReadFact } from '../../../ports/facts.ts';
import type {
	CountRow,
	MarkProblem,
	RowChange,
	Tell,
	ThreadChange,
	ThreadRow,
} from '../../../ports/read-state.ts';
import type { Ledger } from '../../../ports/store.ts';
import type { Fence, Since } from '../fence.ts';
import type { Conversations } from './conversations.ts';
import { type Membership, packActivity, packFollow, packMembership } from './packing.ts';
import { type ReadUser, type Rows, shown } from './rows.ts';
import { cursorFact, preferenceFact, threadFact } from './standing-facts.ts';
import {
	ACTIVITY,
	activityIn,
	type Fields,
	followField,
	followIn,
	membershipField,
	membershipIn,
	STAMP,
	stampIn,
} from './user-state.ts';
import type { Users } from './users.ts';

/** Most marks of single messages are settled by so many. */
const FIRST_ENTRIES = 256;

/** Wrapped, so that it is not waited for where it is handed over. */
interface Appended {
	readonly logged: Promise<void>;
}

/**
 * Moves read positions and preferences: reads, decides with the model's functions, sets if unchanged, and begins
 * again where another device was faster. Called in a turn of the user in the conversation, with the stamp taken in it.
 */
export class Marking {
	constructor(
		private readonly users: Users,
		private readonly conversations: Conversations,
		private readonly rows: Rows,
		private readonly ledger: Ledger,
		private readonly clock: Clock,
		private readonly starts: readonly number[],
		private readonly fence: Fence,
	) {}

	async mark(
		user: string,
		conversation: string,
		mark: Mark,
		tell: Tell<CountRow>,
	): Promise<RowChange | MarkProblem> {
		const stamp = this.clock.next();
		return this.onMembership(user, conversation, stamp, tell, cursorFact, async (membership) => {
			const before: Cursor = {
				ts: membership.cursor,
				revision: membership.revision,
				ahead: membership.ahead,
			};
			for (let first = FIRST_ENTRIES; ; first *= 8) {
				const read = await this.entriesFor(user, conversation, mark, before, first);
				if (!read) return 'not_a_member';
				if (!isAboutAny(mark, read.timeline)) return 'no_such_message';
				const { cursor, ignored } = applyMark(before, mark, read.timeline, read.numberOf(user));
				if (cursor === before) return { ignored };
				// It may go on over what was not read.
				if (mark.type === 'messages' && cursor.ts >= read.known) continue;
				const { revision, ahead } = cursor;
				return { ignored, after: { ...membership, cursor: cursor.ts, revision, ahead } };
			}
		});
	}

	/** What the mark's rule looks at of the timeline. */
	private entriesFor(user: string, conversation: string, mark: Mark, cursor: Cursor, first: number) {
		const where = { conversation, threadTs: null };
		if (mark.type === 'read') return this.conversations.entries(where, null);
		if (mark.type === 'unread') return this.conversations.entries(where, mark.ts - 1, mark.ts);
		return this.around(user, conversation, cursor.ts, mark.tss, first);
	}

	/** The first entries after the cursor, and these: of a user who is far behind, none of those in between is read. */
	private async around(
		user: string,
		conversation: string,
		cursor: number,
		tss: readonly number[],
		first: number,
	) {
		const marked = [...tss].sort((a, b) => a - b);
		const from = Math.min(cursor, (marked[0] ?? 0) - 1);
		const next = await this.conversations.firstEntries(conversation, from, first);
		const beyond = next ? marked.filter((ts) => ts > next.known) : [];
		const [start, end] = [beyond[0], beyond.at(-1)];
		if (!next || start === undefined || end === undefined) return next;
		const far = await this.conversations.entries({ conversation, threadTs: null }, start - 1, end);
		for (const ts of new Set(beyond)) {
			const index = far ? far.timeline.indexOf(ts) : -1;
			if (!far || index < 0) continue;
			const isOwn = far.timeline.authorAt(index) === far.numberOf(user);
			next.timeline.append({ ts, author: next.numberOf(isOwn ? user : ''), flags: 0, named: [] });
		}
		return next;
	}

	async setPreference(
		user: string,
		conversation: string,
		preference: { readonly muted?: boolean; readonly level?: NotificationLevel },
		tell: Tell<CountRow>,
	): Promise<RowChange | MarkProblem> {
		const stamp = this.clock.next();
		return this.onMembership(user, conversation, stamp, tell, preferenceFact, async (membership) => {
			const muted = preference.muted ?? membership.muted;
			const level = preference.level ?? membership.level;
			if (muted === membership.muted && level === membership.level) return { ignored: false };
			return { ignored: false, after: { ...membership, muted, level } };
		});
	}

	/**
	 * `decide` says what the membership becomes; without, nothing changes. Then too it is told to the log how it stands:
	 * whoever changed it may have died before.
	 */
	private async onMembership(
		user: string,
		conversation: string,
		stamp: number,
		tell: Tell<CountRow>,
		factOf: typeof cursorFact,
		decide: (
			membership: Membership,
		) => Promise<MarkProblem | { readonly ignored: boolean; readonly after?: Membership }>,
	): Promise<RowChange | MarkProblem> {
		const field = membershipField(conversation);
		for (;;) {
			const since = await this.fence.since();
			const fields = await this.users.some(user, [field, ACTIVITY]);
			const membership = membershipIn(fields, conversation);
			if (!membership?.member) return 'not_a_member';
			const decision = await decide(membership);
			if (typeof decision === 'string') return decision;
			const { ignored, after } = decision;
			if (!after) {
				const row = await this.rows.row(this.userOf(user, fields), conversation, membership);
				if (!row) return 'not_a_member';
				const appended = await this.append(factOf(user, conversation, membership), since);
				return { row: shown(row), ignored, durable: this.durable(appended, since) };
			}
			const at = afterAll(fields, membership, stamp);
			const changed = { [field]: packMembership({ ...after, at }) };
			if (!(await this.users.set(user, at, fields, changed))) continue;
			// On its way while it is counted; told when both are done.
			const appended = await this.append(factOf(user, conversation, { ...after, at }), since);
			const counted = await this.rows.atOnce(
				conversation,
				async () => this.userOf(user, await this.users.some(user, [field, ACTIVITY])),
				this.userOf(user, { ...fields, ...changed }, at),
			);
			if (!counted) return 'not_a_member';
			const row = shown(counted);
			return { row, ignored, durable: this.durable(appended, since, () => tell(row)) };
		}
	}

	async markThread(
		user: string,
		conversation: string,
		threadTs: number,
		mark: { readonly type: 'read' | 'unread'; readonly ts: number },
		tell: Tell<ThreadRow>,
	): Promise<ThreadChange | MarkProblem> {
		const stamp = this.clock.next();
		const field = followField(conversation, threadTs);
		for (;;) {
			const since = await this.fence.since();
			const fields = await this.users.some(user, [field, ACTIVITY]);
			const follow = followIn(fields, conversation, threadTs);
			const after = mark.type === 'unread' ? mark.ts - 1 : null;
			const where = { conversation, threadTs };
			const read = follow && (await this.conversations.entries(where, after, mark.ts));
			if (!follow || !read) return 'not_following';
			if (mark.type === 'unread' && read.timeline.indexOf(mark.ts) < 0) return 'no_such_message';
			const cursor =
				mark.type === 'read'
					? threadReadUpTo(follow.cursor, mark.ts, read.latest)
					: threadUnreadFrom(follow.cursor, mark.ts);
			const changes = cursor !== follow.cursor;
			const at = afterAll(fields, follow, stamp);
			const moved = changes ? { ...follow, cursor, at } : follow;
			const reader = this.userOf(user, fields, ...(changes ? [at] : []));
			const [set, counted] = await Promise.all([
				!changes || this.users.set(user, at, fields, { [field]: packFollow(moved) }),
				this.rows.threadRow(reader, conversation, threadTs, moved),
			]);
			if (!set) continue;
			if (!counted) return 'not_following';
			const row = shown(counted);
			const fact = threadFact(user, conversation, threadTs, moved);
			const appended = await this.append(fact, since);
			return { row, durable: this.durable(appended, since, changes ? () => tell(row) : undefined) };
		}
	}

	async setActive(user: string, active: boolean): Promise<void> {
		for (;;) {
			const since = await this.fence.since();
			const fields = await this.users.some(user, [ACTIVITY]);
			const moments = activityIn(fields);
			const newest = moments.at(-1);
			// By the newest moment, and not by this process's clock, which may lie before it.
			if ((newest?.active ?? false) === active) {
				if (newest)
					await this.durable(await this.append({ type: 'activity', user, ...newest }, since), since);
				return;
			}
			const at = Math.max(this.clock.next(), (newest?.at ?? 0) + 1);
			const changed = { [ACTIVITY]: packActivity([...moments, { at, active }]) };
			if (!(await this.users.set(user, 0, fields, changed))) continue;
			await this.durable(await this.append({ type: 'activity', user, at, active }, since), since);
			return;
		}
	}

	/** With the stamp that a change under way gives it. */
	private userOf(id: string, fields: Fields, at = 0): ReadUser {
		const stamp = Math.max(stampIn(fields), at);
		return { id, fields: { ...fields, [STAMP]: String(stamp) }, starts: this.starts };
	}

	/** Puts it on its way into the log, where what was decided on a state of another time must not come. */
	private async append(fact: ReadFact, since: Since): Promise<Appended> {
		await this.fence.assured(since);
		const logged = this.ledger.commit([fact]);
		// Whoever waits for it is told; until somebody does, nobody minds.
		logged.catch(() => undefined);
		return { logged };
	}

	/**
	 * `tell` is hung on it in the turn in which it is known, of which there is one at a time: that is what keeps events in the order
	 * of stamps. What came into the log too late is not acknowledged.
	 */
	private durable({ logged }: Appended, since: Since, tell: () => void = () => undefined): Promise<void> {
		return logged.then(tell).then(() => this.fence.assured(since));
	}
}

/** A stamp for a change of now: a device at another gateway, whose clock is ahead, may have been here, or elsewhere, before. */
const afterAll = (fields: Fields, { at }: { readonly at: number }, stamp: number): number =>
	Math.max(stamp, at + 1, stampIn(fields) + 1);
