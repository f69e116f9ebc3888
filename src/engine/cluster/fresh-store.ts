import type { Changes } from '../ports/changes.ts';
import type { Files } from '../ports/files.ts';
import type { MarkLog } from '../ports/log.ts';
import type { Search } from '../ports/search.ts';
import type { Directory, History, Store } from '../ports/store.ts';
import type { Freshness } from './freshness.ts';
import { type MessageReaderParts, messageReaders } from './message-readers.ts';
import { mergeOwnChanges } from './own-changes.ts';

/** The store as gateways read it: never behind delivered events. */

/** Older changes are certainly stored, or the database is unavailable and nothing can be read. */
const RECENT_MICROS = 60_000_000;
/** If the store lacks a mark for longer, the process that applied the mark may have died before it logged it. */
const OVERDUE_MICROS = 10_000_000;

type StoreParts = Pick<Store, 'directory' | 'history' | 'changes' | 'search' | 'files'>;

export interface FreshStoreParts {
	readonly store: StoreParts;
	readonly freshness: Freshness;
	readonly membershipsOf: MessageReaderParts['membershipsOf'];
	readonly marks: Pick<MarkLog, 'append'>;
	readonly nowMicros: () => number;
}

export function freshStore(parts: FreshStoreParts): StoreParts {
	return {
		history: freshHistory(parts),
		changes: freshChanges(parts),
		directory: freshDirectory(parts),
		search: freshSearch(parts),
		files: freshFiles(parts),
	};
}

function freshHistory({ store, freshness, nowMicros }: FreshStoreParts): History {
	const { history } = store;
	const after = async <T>(conversation: string, read: () => Promise<T>): Promise<T> => {
		await freshness.conversations([conversation]);
		return read();
	};
	return {
		timeline: (conversation, range) => after(conversation, () => history.timeline(conversation, range)),
		replies: (conversation, threadTs, range) =>
			after(conversation, () => history.replies(conversation, threadTs, range)),
		messages: (conversation, ts, most) => after(conversation, () => history.messages(conversation, ts, most)),
		threads: (conversation, roots) => after(conversation, () => history.threads(conversation, roots)),
		reactions: (conversation, ts, viewer) =>
			after(conversation, () => history.reactions(conversation, ts, viewer)),
		reactors: (conversation, ts, limit) =>
			after(conversation, () => history.reactors(conversation, ts, limit)),
		pins: (conversation) => after(conversation, () => history.pins(conversation)),
		async reactedTo(user, before, limit) {
			await freshness.user(user, nowMicros() - RECENT_MICROS);
			return history.reactedTo(user, before, limit);
		},
	};
}

/** Waits until the store has the recent changes of the user's conversations. */
const freshSearch = ({ store, freshness, nowMicros }: FreshStoreParts): Search => ({
	async find(request) {
		await freshness.user(request.user, nowMicros() - RECENT_MICROS);
		return store.search.find(request);
	},
});

/** Gateways write the metadata of files themselves; workers write the messages that contain them. */
const freshFiles = ({ store, freshness, nowMicros }: FreshStoreParts): Files => ({
	...store.files,
	async shares(file) {
		await freshness.conversations(file.channels);
		return store.files.shares(file);
	},
	async list(query) {
		await freshness.user(query.reader, nowMicros() - RECENT_MICROS);
		return store.files.list(query);
	},
});

function freshChanges({ store, freshness, marks, nowMicros }: FreshStoreParts): Changes {
	const { changes } = store;
	return {
		async own(user, since) {
			const fields = await freshness.user(user, since);
			const stored = await changes.own(user, since);
			if (fields === null) return stored;
			const { own, missing } = mergeOwnChanges(user, stored, fields, since);
			const overdue = missing.filter(({ at }) => at < nowMicros() - OVERDUE_MICROS);
			// Append overdue changes, so that they become durable. The answer does not wait: if the log is unavailable, the next read
			// retries.
			if (overdue.length > 0) void marks.append(overdue).catch(() => undefined);
			return own;
		},
		async inside(query) {
			await freshness.conversations(query.conversations);
			return changes.inside(query);
		},
		async memberChanges(conversation, since, upTo, limit) {
			await freshness.conversations([conversation]);
			return changes.memberChanges(conversation, since, upTo, limit);
		},
	};
}

function freshDirectory({ store, freshness, membershipsOf, nowMicros }: FreshStoreParts): Directory {
	const { directory, history } = store;
	const readers = messageReaders({ directory, history, membershipsOf });
	return {
		...directory,
		async conversations(ids) {
			await freshness.conversations(ids);
			return directory.conversations(ids);
		},
		async conversationsOf(query, after, limit) {
			const since = nowMicros() - RECENT_MICROS;
			await freshness.user(query.user, since);
			if (query.viewer !== undefined) await freshness.user(query.viewer, since);
			return directory.conversationsOf(query, after, limit);
		},
		async members(conversation, after, limit) {
			await freshness.conversations([conversation]);
			return directory.members(conversation, after, limit);
		},
		async readers(conversation, ts, after, limit) {
			await freshness.conversations([conversation]);
			return readers(conversation, ts, after, limit);
		},
	};
}
