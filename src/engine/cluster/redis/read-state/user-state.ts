import type { UserReadState } from '../../../ports/store.ts';
import {
	type ActivityMoment,
	type Follow,
	type Membership,
	packActivity,
	packFollow,
	packMembership,
	unpackActivity,
	unpackFollow,
	unpackMembership,
} from './packing.ts';

/** A user's read state as the fields of one hash, and the changes that commands make to it. Pure. */

export type Fields = Readonly<Record<string, string>>;

export const STAMP = 'stamp';
export const ACTIVITY = 'activity';
export const membershipField = (conversation: string): string => `c:${conversation}`;
export const followField = (conversation: string, threadTs: number): string =>
	`f:${conversation}:${threadTs}`;

export const membershipIn = (fields: Fields, conversation: string): Membership | undefined => {
	const packed = fields[membershipField(conversation)];
	return packed ? unpackMembership(packed) : undefined;
};

export const followIn = (fields: Fields, conversation: string, threadTs: number): Follow | undefined => {
	const packed = fields[followField(conversation, threadTs)];
	return packed ? unpackFollow(packed) : undefined;
};

export const stampIn = (fields: Fields): number => Number(fields[STAMP] ?? 0);
export const activityIn = (fields: Fields): ActivityMoment[] => unpackActivity(fields[ACTIVITY] ?? '');

/** Of conversations the user is in, or was. */
export const membershipEntries = (fields: Fields): { conversation: string; membership: Membership }[] =>
	Object.entries(fields)
		.filter(([field]) => field.startsWith('c:'))
		.map(([field, packed]) => ({ conversation: field.slice(2), membership: unpackMembership(packed) }));

export const followEntries = (fields: Fields): { conversation: string; threadTs: number; follow: Follow }[] =>
	Object.entries(fields)
		.filter(([field]) => field.startsWith('f:'))
		.map(([field, packed]) => {
			const [, conversation = '', threadTs] = field.split(':');
			return { conversation, threadTs: Number(threadTs), follow: unpackFollow(packed) };
		});

/** What a command changes about a user. Each can be applied again: stamps tell what is old. */
export type UserChange =
	| { readonly type: 'join'; readonly conversation: string; readonly at: number; readonly cursor: number }
	| { readonly type: 'leave'; readonly conversation: string; readonly at: number }
	| {
			readonly type: 'follow';
			readonly conversation: string;
			readonly threadTs: number;
			readonly at: number;
			readonly cursor: number;
	  }
	| {
			readonly type: 'unfollow';
			readonly conversation: string;
			readonly threadTs: number;
			readonly at: number;
	  };

/** The fields that become others, '' for none; empty where nothing changes. */
export function changedFields(fields: Fields, change: UserChange): Fields {
	const { conversation, at } = change;
	if (change.type === 'join' || change.type === 'leave') {
		const former = membershipIn(fields, conversation);
		if (former && former.joined >= at) return {};
		return change.type === 'join'
			? { [membershipField(conversation)]: packMembership(joined(former, at, change.cursor)) }
			: left(fields, former, conversation, at);
	}
	const follow = followIn(fields, conversation, change.threadTs);
	if (follow && follow.since >= at) return {};
	const field = followField(conversation, change.threadTs);
	if (change.type === 'follow') return { [field]: packFollow({ cursor: change.cursor, since: at, at }) };
	return follow ? { [field]: '' } : {};
}

/** Rejoining starts anew, with a revision above the old one. */
const joined = (former: Membership | undefined, at: number, cursor: number): Membership => ({
	member: true,
	muted: false,
	level: 'all',
	cursor,
	revision: former ? former.revision + 1 : 0,
	joined: at,
	at,
	ahead: new Set(),
});

function left(fields: Fields, former: Membership | undefined, conversation: string, at: number): Fields {
	const changed: Record<string, string> = {};
	if (former?.member)
		changed[membershipField(conversation)] = packMembership({
			...former,
			member: false,
			at,
			ahead: new Set(),
		});
	const prefix = `f:${conversation}:`;
	for (const [field, packed] of Object.entries(fields))
		if (field.startsWith(prefix) && unpackFollow(packed).since < at) changed[field] = '';
	return changed;
}

/** What the store has, with the changes on top that it may not have yet. */
export function mergedFields(rows: UserReadState, changes: readonly UserChange[]): Fields {
	const aheadOf = Map.groupBy(rows.ahead, ({ conversation }) => conversation);
	let fields: Fields = {
		...Object.fromEntries(
			rows.memberships.map((row) => [
				membershipField(row.conversation),
				packMembership({
					...row,
					joined: row.joinedTs,
					at: row.changedTs,
					// Of an earlier membership some may be left, which its cursor has passed.
					ahead: new Set(
						aheadOf
							.get(row.conversation)
							?.map(({ ts }) => ts)
							.filter((ts) => ts > row.cursor),
					),
				}),
			]),
		),
		...Object.fromEntries(
			rows.follows.map((row) => [
				followField(row.conversation, row.threadTs),
				packFollow({ ...row, at: row.changedTs }),
			]),
		),
		[ACTIVITY]: packActivity(rows.activity),
	};
	for (const change of changes) {
		const changed = { ...fields, ...changedFields(fields, change) };
		fields = Object.fromEntries(Object.entries(changed).filter(([, value]) => value !== ''));
	}
	return { ...fields, [STAMP]: String(Math.max(rows.stamp, ...changes.map(({ at }) => at))) };
}
