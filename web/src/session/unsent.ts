import type { UnsentPost, UnsentStore } from '@tidemark/client';

/** Messages that were not sent yet, in this browser: an outage and a reload lose none. One key each, so that tabs do not overwrite each other. */

const PREFIX = 'tidemark.unsent.';
const MAX_AGE_MS = 30 * 24 * 60 * 60 * 1000;

interface Kept {
	/** When it was kept first: the order in which it is sent. */
	readonly at: number;
	readonly post: UnsentPost;
}

function read(key: string): Kept | null {
	try {
		return JSON.parse(localStorage.getItem(key) ?? 'null') as Kept | null;
	} catch {
		return null;
	}
}

export const unsentStore: UnsentStore = {
	load() {
		const keys = Object.keys(localStorage).filter((key) => key.startsWith(PREFIX));
		const all = keys.map((key) => ({ key, kept: read(key) }));
		const isUsable = (kept: Kept | null): kept is Kept => kept !== null && Date.now() - kept.at < MAX_AGE_MS;
		for (const { key, kept } of all) if (!isUsable(kept)) localStorage.removeItem(key);
		return all
			.map(({ kept }) => kept)
			.filter(isUsable)
			.sort((one, other) => one.at - other.at)
			.map(({ post }) => post);
	},
	keep(id, post) {
		const key = PREFIX + id;
		try {
			localStorage.setItem(key, JSON.stringify({ at: read(key)?.at ?? Date.now(), post }));
		} catch {
			// The storage is full: the message is still sent by this page.
		}
	},
	drop: (id) => localStorage.removeItem(PREFIX + id),
};
