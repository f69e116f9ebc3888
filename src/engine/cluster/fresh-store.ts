import type { Changes } from '../ports/changes.ts';
import type { Directory, History, Store } from '../ports/store.ts';
import type { Freshness } from './freshness.ts';

/** The store as gateways read it: never behind what anybody was told. */

/** A membership that is older than this was written long ago, or the database is away and nothing is read anyway. */
const LATELY_MICROS = 60_000_000;

type Reads = Pick<Store, 'directory' | 'history' | 'changes'>;

export function freshStore(store: Reads, freshness: Freshness, nowMicros: () => number): Reads {
	return {
		history: freshHistory(store.history, freshness),
		changes: freshChanges(store.changes, freshness),
		directory: freshDirectory(store.directory, freshness, nowMicros),
	};
}

function freshHistory(history: History, freshness: Freshness): History {
	const after = async <T>(conversation: string, read: () => Promise<T>): Promise<T> => {
		await freshness.conversations([conversation]);
		return read();
	};
	return {
		timeline: (conversation, range) => after(conversation, () => history.timeline(conversation, range)),
		replies: (conversation, threadTs, range) =>
			after(conversation, () => history.replies(conversation, threadTs, range)),
		messages: (conversation, ts) => after(conversation, () => history.messages(conversation, ts)),
		threads: (conversation, roots) => after(conversation, () => history.threads(conversation, roots)),
	};
}

function freshChanges(changes: Changes, freshness: Freshness): Changes {
	return {
		async own(user, since) {
			await freshness.user(user, since);
			return changes.own(user, since);
		},
		async inside(query) {
			await freshness.conversations(query.conversations);
			return changes.inside(query);
		},
	};
}

function freshDirectory(directory: Directory, freshness: Freshness, nowMicros: () => number): Directory {
	return {
		...directory,
		async conversations(ids) {
			await freshness.conversations(ids);
			return directory.conversations(ids);
		},
		async conversationsOf(query, after, limit) {
			await freshness.user(query.user, nowMicros() - LATELY_MICROS);
			return directory.conversationsOf(query, after, limit);
		},
		async members(conversation, after, limit) {
			await freshness.conversations([conversation]);
			return directory.members(conversation, after, limit);
		},
		async readers(conversation, ts, after, limit) {
			await freshness.conversations([conversation]);
			return directory.readers(conversation, ts, after, limit);
		},
	};
}
