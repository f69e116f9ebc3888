import type { UnsentPost, UnsentStore } from '@tidemark/client';

/**
 * Stores unsent messages in the browser, so that an outage and a reload lose none. Each message has its own key, so that tabs do not
 * overwrite each other's.
 */

const PREFIX = 'tidemark.unsent.';
const MAX_AGE_MS = 30 * 24 * 60 * 60 * 1000;

interface StoredPost {
	/** When the message was first stored. Messages are sent in this order. */
	readonly at: number;
	readonly post: UnsentPost;
}

function read(key: string): StoredPost | null {
	try {
		return JSON.parse(localStorage.getItem(key) ?? 'null') as StoredPost | null;
	} catch {
		return null;
	}
}

export const unsentStore: UnsentStore = {
	load() {
		const keys = Object.keys(localStorage).filter((key) => key.startsWith(PREFIX));
		const all = keys.map((key) => ({ key, stored: read(key) }));
		const isUsable = (stored: StoredPost | null): stored is StoredPost =>
			stored !== null && Date.now() - stored.at < MAX_AGE_MS;
		for (const { key, stored } of all) if (!isUsable(stored)) localStorage.removeItem(key);
		return all
			.map(({ stored }) => stored)
			.filter(isUsable)
			.sort((one, other) => one.at - other.at)
			.map(({ post }) => post);
	},
	keep(id, post) {
		const key = PREFIX + id;
		try {
			localStorage.setItem(key, JSON.stringify({ at: read(key)?.at ?? Date.now(), post }));
		} catch {
			// The storage is full: this page still sends the message, but a reload loses it.
		}
	},
	drop: (id) => localStorage.removeItem(PREFIX + id),
};
