import { type Counts, shownCounts } from '../../../../model/counting.ts';
import { isDirect } from '../../../../model/ids.ts';
import type { CountRow, MemberView, ThreadRow } from '../../../ports/read-state.ts';
import type { Standing } from './answers.ts';
import type { Conversations } from './conversations.ts';
import type { Follow, Membership } from './packing.ts';
import { activeAt, type Fields, membershipField, membershipIn, stampIn } from './user-state.ts';

/** Rows from what was read of a user and counted of a conversation. */

/** A user's state as it was read. */
export interface ReadUser {
	readonly id: string;
	readonly fields: Fields;
	/** When servers were started: whoever was active before is not any more. */
	readonly starts: readonly number[];
}

type StandingRow = CountRow & { readonly archived: boolean };

/** Somebody who marks without a pause gets a row all the same. */
export const MOST_TRIES = 5;

export class Rows {
	constructor(private readonly conversations: Conversations) {}

	/**
	 * The row as it was at one moment: counted between two looks at the user that saw the same. Otherwise one could have the
	 * messages of now and the mark of before, and win over the one that has the mark. Null: not a member, or there is no such conversation.
	 */
	async atOnce(
		conversation: string,
		look: () => Promise<ReadUser>,
		known?: ReadUser,
	): Promise<StandingRow | null> {
		const field = membershipField(conversation);
		let user = known ?? (await look());
		for (let tries = 1; ; tries += 1) {
			const membership = membershipIn(user.fields, conversation);
			const row = membership?.member ? await this.row(user, conversation, membership) : null;
			if (!row) return null;
			const now = await look();
			const isAsItWas =
				stampIn(now.fields) === stampIn(user.fields) && now.fields[field] === user.fields[field];
			if (isAsItWas || tries === MOST_TRIES) return row;
			user = now;
		}
	}

	/** Null where there is no such conversation. */
	async row(user: ReadUser, conversation: string, membership: Membership): Promise<StandingRow | null> {
		const counted = await this.conversations.count(
			{ conversation, threadTs: null },
			{ user: user.id, cursor: membership.cursor, ahead: membership.ahead, activeAt: activity(user) },
		);
		return counted && countRow(user, conversation, membership, counted);
	}

	async threadRow(
		user: ReadUser,
		conversation: string,
		threadTs: number,
		follow: Follow,
	): Promise<(ThreadRow & { readonly archived: boolean }) | null> {
		const counted = await this.conversations.count(
			{ conversation, threadTs },
			{ user: user.id, cursor: follow.cursor, activeAt: activity(user) },
		);
		if (!counted) return null;
		const { counts, archived } = counted;
		return {
			conversation,
			threadTs,
			lastRead: follow.cursor,
			since: follow.since,
			unread: counts.unread,
			mentions: counts.named,
			badge: counts.namedInThreadOnly,
			latestReply: counted.latest,
			position: { conversation: counted.stamp, user: stampIn(user.fields) },
			archived,
		};
	}
}

const activity = ({ fields, starts }: ReadUser) => activeAt(fields, starts);

function countRow(
	{ fields }: ReadUser,
	conversation: string,
	membership: Membership,
	counted: Standing & { readonly counts: Counts },
): CountRow & { readonly archived: boolean } {
	const { kind, archived, stamp, latest, counts } = counted;
	const { muted, level, cursor, revision } = membership;
	return {
		conversation,
		kind,
		archived,
		latest,
		lastRead: cursor,
		revision,
		muted,
		level,
		position: { conversation: stamp, user: stampIn(fields) },
		...shownCounts(counts, { direct: isDirect(kind), muted }),
	};
}

export function memberView(
	conversation: string,
	{ cursor, revision, muted, level }: Membership,
	{ kind, archived }: Standing,
): MemberView {
	return { conversation, kind, archived, lastRead: cursor, revision, muted, level };
}

/** Without what only this engine needs to know. */
export function shown<Row extends { readonly archived: boolean }>(row: Row): Omit<Row, 'archived'> {
	const { archived: _, ...rest } = row;
	return rest;
}
