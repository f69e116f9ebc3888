import type { CountRow } from '../../src/engine/ports/read-state.ts';

/** A conversation in which nothing was posted. */
export const emptyRow = (conversation: string): CountRow => ({
	conversation,
	kind: 'public',
	latest: 0,
	lastRead: 0,
	revision: 0,
	muted: false,
	level: 'all',
	position: { conversation: 0, user: 0 },
	unread: 0,
	unreadDisplay: 0,
	mentions: 0,
	badge: 0,
	capped: false,
});
