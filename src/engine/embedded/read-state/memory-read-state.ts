import { firstOf, type Mark } from '../../../model/cursor.ts';
import { countRow, threadRow, unreadInConversation, unreadInThread } from '../../../model/rows.ts';
import type { Clock } from '../../../model/ts.ts';
import type { Command } from '../../../sequencer/commands.ts';
import type { Effect } from '../../../sequencer/effects.ts';
import type { NotificationLevel, ReadFact } from '../../ports/facts.ts';
import type {
	CountRow,
	CountSink,
	CountTotals,
	InboxPage,
	InboxQuery,
	MarkProblem,
	MemberView,
	Moment,
	MomentQuery,
	ReadState,
	RepairProblem,
	RowChange,
	Tell,
	ThreadChange,
	ThreadRow,
	ThreadTotals,
	UnreadItem,
	UserCounts,
} from '../../ports/read-state.ts';
import type { Ledger } from '../../ports/store.ts';
import { Application } from './application.ts';
import { CountWalk } from './count-walk.ts';
import { Inbox } from './inbox.ts';
import type { LoadedUser } from './loaded.ts';
import { Marking } from './marking.ts';
import type { Membership } from './memberships.ts';
import { Moments } from './moments.ts';
import { type Place, Places, type ThreadPlace } from './places.ts';
import { Repair } from './repair.ts';
import type { Residents } from './residents.ts';

/**
 * Read state in this process's memory.
 *
 * Changes are applied at once and handed to the ledger in the same turn, so stamps, application and commits
 * have one order. Queries are computed at once too, and answered when everything they may show is on disk.
 */
export class MemoryReadState implements ReadState {
	private readonly application: Application;
	private readonly places: Places;
	private readonly marking: Marking;
	private readonly walk: CountWalk;
	private readonly inboxes: Inbox;
	private readonly moments: Moments;

	constructor(
		private readonly residents: Residents,
		private readonly ledger: Ledger,
		clock: Clock,
	) {
		this.application = new Application(residents);
		this.places = new Places(residents);
		this.marking = new Marking(ledger, clock);
		this.walk = new CountWalk(residents, this.places);
		this.inboxes = new Inbox(residents, this.places, clock);
		this.moments = new Moments(residents, this.places, clock);
	}

	async prepare({ conversation: id, actor, action }: Command): Promise<void> {
		const conversation = await this.residents.conversation(id);
		if (!conversation) return;
		if (action.type === 'delete') await this.residents.depths.reachPastNewest(conversation);
		if (action.type !== 'post') return;
		if (action.threadTs !== null) await this.residents.thread(conversation, action.threadTs);
		await this.places.untilUnreadIsKnown(actor, id);
	}

	apply(effects: readonly Effect[]): readonly ReadFact[] {
		return effects.flatMap((effect) => this.application.apply(effect));
	}

	async mark(
		user: string,
		conversation: string,
		mark: Mark,
		tell: Tell<CountRow>,
	): Promise<RowChange | MarkProblem> {
		const change = await this.places.at(
			user,
			conversation,
			(place) => this.marking.mark(place, mark, tell),
			(membership) => backTo(mark, membership),
		);
		return change ?? 'not_a_member';
	}

	async markThread(
		user: string,
		conversation: string,
		threadTs: number,
		mark: { readonly type: 'read' | 'unread'; readonly ts: number },
		tell: Tell<ThreadRow>,
	): Promise<ThreadChange | MarkProblem> {
		const change = await this.places.inThread(user, conversation, threadTs, (place) =>
			this.marking.markThread(place, mark, tell),
		);
		return change ?? 'not_following';
	}

	async setPreference(
		user: string,
		conversation: string,
		preference: { readonly muted?: boolean; readonly level?: NotificationLevel },
		tell: Tell<CountRow>,
	): Promise<RowChange | MarkProblem> {
		const change = await this.places.at(user, conversation, (place) =>
			this.marking.setPreference(place, preference, tell),
		);
		return change ?? 'not_a_member';
	}

	async setActive(user: string, active: boolean): Promise<void> {
		const loaded = await this.residents.user(user);
		await this.marking.setActive(loaded, active);
	}

	async member(user: string, conversation: string): Promise<MemberView | null> {
		const loaded = await this.residents.conversation(conversation);
		const { memberships } = await this.residents.user(user);
		const membership = loaded && memberships.get(loaded.number);
		if (!loaded || !membership?.member) return null;
		return this.shown(memberView({ conversation: loaded, membership }));
	}

	async memberships(user: string): Promise<readonly MemberView[]> {
		return this.shown([...this.places.of(await this.places.complete(user))].map(memberView));
	}

	async row(user: string, conversation: string): Promise<CountRow | null> {
		const row = await this.places.at(user, conversation, rowOf);
		return this.shown(row);
	}

	async counts(user: string): Promise<UserCounts> {
		let rows: CountRow[] = [];
		const totals = await this.countsInto(user, {
			begin: () => {
				rows = [];
			},
			row: (row) => rows.push({ ...row, position: { ...row.position } }),
		});
		return { ...totals, rows };
	}

	async countsInto(user: string, sink: CountSink): Promise<CountTotals> {
		return this.shown(await this.places.untilLoaded(user, (loaded) => this.walk.take(loaded, sink)));
	}

	async threadTotals(user: string): Promise<{ threads: ThreadTotals; stamp: number }> {
		const use = (loaded: LoadedUser) => ({
			threads: this.walk.threads(loaded),
			stamp: this.places.stampOf(loaded),
		});
		return this.shown(await this.places.everywhere(user, use));
	}

	async unread(user: string, conversation?: string): Promise<readonly UnreadItem[]> {
		if (conversation !== undefined)
			return this.shown((await this.places.at(user, conversation, unreadOf)) ?? []);
		return this.shown(
			await this.places.everywhere(user, (loaded) => [
				...[...this.places.of(loaded)].flatMap(unreadOf),
				...[...this.places.threadsOf(loaded)].flatMap(({ conversation, threadTs, thread, follow }) =>
					unreadInThread(loaded, conversation, threadTs, thread, follow),
				),
			]),
		);
	}

	async inbox(user: string, query: InboxQuery): Promise<InboxPage | 'no_such_listing'> {
		return this.shown((await this.inboxes.page(user, query)) ?? 'no_such_listing');
	}

	async threads(user: string): Promise<readonly ThreadRow[]> {
		return this.shown(
			await this.places.everywhere(user, (loaded) => [...this.places.threadsOf(loaded)].map(threadRowOf)),
		);
	}

	async thread(user: string, conversation: string, threadTs: number): Promise<ThreadRow | null> {
		return this.shown(await this.places.inThread(user, conversation, threadTs, threadRowOf));
	}

	async moment(user: string, query: MomentQuery): Promise<Moment> {
		return this.shown(await this.moments.of(user, query));
	}

	async available(): Promise<void> {}

	async stampOf(user: string): Promise<number> {
		return this.shown(this.places.stampOf(await this.places.complete(user)));
	}

	repair(user: string, conversation: string): Promise<'repaired' | RepairProblem> {
		return new Repair(this.residents, this.ledger).at(user, conversation);
	}

	/** Hands out an answer when everything it may show is on disk. */
	private async shown<T>(answer: T): Promise<T> {
		await this.ledger.settled();
		return answer;
	}
}

/** What moves over messages need not know them: entries after the new cursor are enough. */
function backTo(mark: Mark, { cursor, revision }: Membership): number {
	if (mark.type !== 'read') return Math.min(cursor, firstOf(mark) - 1);
	const isOutdated = mark.revision !== undefined && mark.revision < revision;
	return isOutdated ? cursor : Math.max(cursor, mark.ts);
}

const rowOf = ({ user, conversation, membership }: Place): CountRow =>
	countRow(user, conversation, membership, user.ahead.get(conversation.number));

const threadRowOf = ({ user, conversation, threadTs, thread, follow }: ThreadPlace): ThreadRow =>
	threadRow(user, conversation, threadTs, thread, follow);

const unreadOf = ({ user, conversation, membership }: Place): UnreadItem[] =>
	unreadInConversation(user, conversation, membership, user.ahead.get(conversation.number));

const memberView = ({
	conversation,
	membership,
}: Pick<Place, 'conversation' | 'membership'>): MemberView => ({
	conversation: conversation.id,
	kind: conversation.kind,
	archived: conversation.archived,
	lastRead: membership.cursor,
	revision: membership.revision,
	muted: membership.muted,
	level: membership.level,
});
