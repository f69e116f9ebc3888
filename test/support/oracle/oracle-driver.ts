/**
 * An oracle in place of the server, to test the random histories themselves. With a fault it is a deliberately wrong
 * server, which the comparison must catch.
 */

import type { Driver } from './driver.ts';
import { Oracle } from './oracle.ts';

export type Fault =
	| 'forgets a mark'
	| 'marks backwards'
	| 'ignores revisions'
	| 'loses an edit'
	| 'loses a delete'
	| 'follows twice'
	| 'keeps mute on rejoin'
	| 'counts everybody as active';

export function oracleDriver(fault?: Fault): Driver {
	const server = new Oracle();
	let clock = 1_717_200_000_000_000;
	let created = 0;
	let marks = 0;
	const tick = () => {
		clock += 7;
		return clock;
	};
	return {
		async createConversation(kind, members) {
			created += 1;
			const id = `C${created}`;
			const at = tick();
			server.createConversation(id, kind, members, at);
			return { id, at };
		},
		async join(c, user) {
			const muted = server.conversation(c).memberships.get(user)?.muted ?? false;
			server.join(c, user);
			server.mute(c, user, fault === 'keeps mute on rejoin' && muted);
		},
		leave: async (c, user) => server.leave(c, user),
		kick: async (c, user) => server.leave(c, user),
		archive: async (c) => server.archive(c),
		unarchive: async (c) => server.unarchive(c),
		async post(c, user, text, options) {
			const ts = tick();
			server.post(c, user, text, ts, options);
			return ts;
		},
		async edit(c, _user, ts, text) {
			if (fault !== 'loses an edit') {
				server.edit(c, ts, text, tick());
			}
		},
		async remove(c, _user, ts) {
			if (fault !== 'loses a delete') {
				server.remove(c, ts);
			}
		},
		async mark(c, user, ts, revision) {
			marks += 1;
			const membership = server.conversation(c).memberships.get(user);
			if (fault === 'forgets a mark' && marks % 10 === 0) {
				return { ignored: revision !== undefined && revision < (membership?.revision ?? 0) };
			}
			if (fault === 'marks backwards' && membership) {
				membership.cursor = Math.min(membership.cursor, ts);
			}
			return server.mark(c, user, ts, fault === 'ignores revisions' ? undefined : revision);
		},
		markUnread: async (c, user, ts) => server.markUnread(c, user, ts),
		markMessage: async (c, user, ts) => server.markMessage(c, user, ts),
		markAllRead: async (user) => server.markAllRead(user),
		mute: async (c, user, muted) => server.mute(c, user, muted),
		async follow(c, threadTs, user, lastRead) {
			if (fault === 'follows twice') {
				server.unfollow(c, threadTs, user);
			}
			server.follow(c, threadTs, user, lastRead);
		},
		unfollow: async (c, threadTs, user) => server.unfollow(c, threadTs, user),
		markThread: async (c, threadTs, user, ts) => server.markThread(c, threadTs, user, ts),
		markThreadUnread: async (c, threadTs, user, ts) => server.markThreadUnread(c, threadTs, user, ts),
		async setActive(user, active) {
			const at = tick();
			server.setActive(user, active || fault === 'counts everybody as active', at);
			return at;
		},
		rows: async (user) => server.rows(user),
		unreads: async (user, c) => server.unreads(user, c),
		threads: async (user) => server.threads(user),
		follows: async (user) => server.follows(user),
		badge: async (user) => server.badge(user),
		explain: async (user) => server.explain(user),
		members: async (c) => server.members(c),
		timeline: async (c) => server.timeline(c),
		readers: async (c, ts) => server.readers(c, ts),
	};
}
