import type { MembershipView } from '../../model/views.ts';
import type { Directory, History, Page } from '../ports/store.ts';

/**
 * Finds the users who have read a message. The store has the members and their cursors; Redis has the cursors that moved lately: a
 * mark is in Redis before it is acknowledged.
 */

export interface MessageReaderParts {
	readonly directory: Pick<Directory, 'members' | 'readers'>;
	readonly history: Pick<History, 'messages'>;
	/** Memberships in Redis: those that have changed lately. */
	readonly membershipsOf: (
		conversation: string,
		users: readonly string[],
	) => Promise<ReadonlyMap<string, MembershipView>>;
}

const MEMBERS_PER_STEP = 1_000;

/** The store must have every change of the conversation. */
export function messageReaders({
	directory,
	history,
	membershipsOf,
}: MessageReaderParts): Directory['readers'] {
	return async (conversation, ts, after, limit): Promise<Page<string>> => {
		const [message] = await history.messages(conversation, [ts]);
		const found: string[] = [];
		for (let from = after; ; ) {
			const members = await directory.members(conversation, from, MEMBERS_PER_STEP);
			// Redis first: a membership that Redis no longer has is in the store by the time the store is read.
			const known = await membershipsOf(conversation, members.items);
			const stored = await directory.readers(conversation, ts, from, MEMBERS_PER_STEP);
			const storedReaders = new Set(stored.items);
			for (const user of members.items) {
				const membership = known.get(user);
				const isReader = membership ? hasRead(membership, ts) : storedReaders.has(user);
				if (isReader && user !== message?.user) found.push(user);
			}
			if (found.length > limit) return { items: found.slice(0, limit), next: found[limit - 1] ?? null };
			if (members.next === null) return { items: found, next: null };
			from = members.next;
		}
	};
}

const hasRead = ({ member, cursor, ahead }: MembershipView, ts: number): boolean =>
	member && (cursor >= ts || ahead.has(ts));
