import type { Directory, History, Page } from '../ports/store.ts';
import type { StoredMembership } from './redis/read-state/packing.ts';

/**
 * Who has read a message. The store knows the members, and where those stand whose state is not in Redis; where the others
 * stand Redis knows, which has every mark before it is acknowledged.
 */

export interface ReaderParts {
	readonly directory: Pick<Directory, 'members' | 'readers'>;
	readonly history: Pick<History, 'messages'>;
	/** As they stand in Redis, those who are loaded there. */
	readonly membershipsOf: (
		conversation: string,
		users: readonly string[],
	) => Promise<ReadonlyMap<string, StoredMembership>>;
}

/** Members that are looked at together. */
const AT_ONCE = 1_000;

/** For a store that has everything that happened in the conversation. */
export function freshReaders({ directory, history, membershipsOf }: ReaderParts): Directory['readers'] {
	return async (conversation, ts, after, limit): Promise<Page<string>> => {
		const [message] = await history.messages(conversation, [ts]);
		const found: string[] = [];
		for (let from = after; ; ) {
			const [members, stored] = await Promise.all([
				directory.members(conversation, from, AT_ONCE),
				directory.readers(conversation, ts, from, AT_ONCE),
			]);
			const known = await membershipsOf(conversation, members.items);
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

const hasRead = ({ member, cursor, ahead }: StoredMembership, ts: number): boolean =>
	member && (cursor >= ts || ahead.has(ts));
