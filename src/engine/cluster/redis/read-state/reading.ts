import { countRow, threadRow, unreadInConversation, unreadInThread } from '../../../../model/rows.ts';
import type {
	CountRow,
	CountTotals,
	MemberView,
	ThreadRow,
	ThreadTotals,
	UnreadItem,
} from '../../../ports/read-state.ts';
import type { Place, ThreadPlace, Views } from '../views/views.ts';

/** Answers about a user, from views that are brought up to date for each. */
export class Reading {
	constructor(private readonly views: Views) {}

	member(user: string, conversation: string): Promise<MemberView | null> {
		return this.views.member(user, conversation, memberView);
	}

	memberships(user: string): Promise<readonly MemberView[]> {
		return this.views.places(user, 'none', (_, places) => places.map(memberView));
	}

	row(user: string, conversation: string): Promise<CountRow | null> {
		return this.views.at(user, conversation, rowOf);
	}

	/** Of conversations that are not archived. */
	counts(user: string): Promise<Omit<CountTotals, 'stamp'> & { readonly rows: readonly CountRow[] }> {
		return this.views.everywhere(user, (_, places, followed) => {
			const rows = places.filter(isInUse).map(rowOf);
			const threads = totalsOf(followed.map(threadRowOf));
			return { rows, threads, badge: rows.reduce((sum, row) => sum + row.badge, threads.badge) };
		});
	}

	threads(user: string): Promise<readonly ThreadRow[]> {
		return this.views.everywhere(user, (_, __, followed) => followed.map(threadRowOf));
	}

	thread(user: string, conversation: string, threadTs: number): Promise<ThreadRow | null> {
		return this.views.inThread(user, conversation, threadTs, threadRowOf);
	}

	async unread(user: string, conversation?: string): Promise<readonly UnreadItem[]> {
		if (conversation !== undefined) return (await this.views.at(user, conversation, unreadOf)) ?? [];
		return this.views.everywhere(user, (_, places, followed) => [
			...places.flatMap(unreadOf),
			...followed.flatMap(({ user: reader, conversation: of, threadTs, thread, follow }) =>
				unreadInThread(reader, of, threadTs, thread, follow),
			),
		]);
	}
}

export const rowOf = ({ user, conversation, membership }: Place): CountRow =>
	countRow(user, conversation, membership, membership.ahead);

export const threadRowOf = ({ user, conversation, threadTs, thread, follow }: ThreadPlace): ThreadRow =>
	threadRow(user, conversation, threadTs, thread, follow);

export const isInUse = ({ conversation }: Place): boolean => !conversation.archived;

const unreadOf = ({ user, conversation, membership }: Place): UnreadItem[] =>
	unreadInConversation(user, conversation, membership, membership.ahead);

const memberView = ({ conversation: { id, kind, archived }, membership }: Place): MemberView => {
	const { cursor, revision, muted, level } = membership;
	return { conversation: id, kind, archived, lastRead: cursor, revision, muted, level };
};

export function totalsOf(rows: readonly ThreadRow[]): ThreadTotals {
	const totals = { unread: 0, mentions: 0, badge: 0 };
	for (const row of rows) {
		totals.unread += row.unread;
		totals.mentions += row.mentions;
		totals.badge += row.badge;
	}
	return totals;
}
