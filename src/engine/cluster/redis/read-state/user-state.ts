import type { UserReadState } from '../../../ports/store.ts';
import {
	type ActivityChange,
	packActivity,
	packFollow,
	packMembership,
	type RedisFollow,
	type RedisMembership,
	unpackActivity,
	unpackFollow,
	unpackMembership,
} from './packing.ts';

/** A user's read state as the fields of one hash. Pure. */

export type Fields = Readonly<Record<string, string>>;

export const STAMP = 'stamp';
export const ACTIVITY = 'activity';
export const membershipField = (conversation: string): string => `c:${conversation}`;
export const followField = (conversation: string, threadTs: number): string =>
	`f:${conversation}:${threadTs}`;

export const membershipIn = (fields: Fields, conversation: string): RedisMembership | undefined => {
	const packed = fields[membershipField(conversation)];
	return packed ? unpackMembership(packed) : undefined;
};

export const followIn = (fields: Fields, conversation: string, threadTs: number): RedisFollow | undefined => {
	const packed = fields[followField(conversation, threadTs)];
	return packed ? unpackFollow(packed) : undefined;
};

export const stampIn = (fields: Fields): number => Number(fields[STAMP] ?? 0);
export const activityIn = (fields: Fields): ActivityChange[] => unpackActivity(fields[ACTIVITY] ?? '');

/** Including conversations that the user has left. */
export const membershipEntries = (fields: Fields): { conversation: string; membership: RedisMembership }[] =>
	Object.entries(fields)
		.filter(([field]) => field.startsWith('c:'))
		.map(([field, packed]) => ({ conversation: field.slice(2), membership: unpackMembership(packed) }));

export const followEntries = (
	fields: Fields,
): { conversation: string; threadTs: number; follow: RedisFollow }[] =>
	Object.entries(fields)
		.filter(([field]) => field.startsWith('f:'))
		.map(([field, packed]) => {
			const [, conversation = '', threadTs] = field.split(':');
			return { conversation, threadTs: Number(threadTs), follow: unpackFollow(packed) };
		});

/** The fields for the state in the store. */
export function fieldsOf(rows: UserReadState): Fields {
	const aheadOf = Map.groupBy(rows.ahead, ({ conversation }) => conversation);
	const fields: Record<string, string> = {
		[ACTIVITY]: packActivity(rows.activity),
		[STAMP]: String(rows.stamp),
	};
	for (const row of rows.memberships) {
		const { conversation, awaitedJoin = 0, changedTs: at, cursor } = row;
		const joined = Math.max(row.joinedTs, awaitedJoin);
		const readAhead = aheadOf.get(conversation)?.map(({ ts }) => ts) ?? [];
		// Entries of an earlier membership may be left over, at or before the cursor.
		const ahead = new Set(readAhead.filter((ts) => ts > cursor));
		fields[membershipField(conversation)] = packMembership({
			...row,
			joined,
			at,
			ahead,
			isAwaited: awaitedJoin > 0,
		});
	}
	for (const row of rows.follows)
		fields[followField(row.conversation, row.threadTs)] = packFollow({ ...row, at: row.changedTs });
	return fields;
}
