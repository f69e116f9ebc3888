import type { Platform } from './platform.ts';
import type { Wire } from './wire.ts';

/**
 * The users who are typing. Clients do not report that a user has stopped: a user counts as typing until their message
 * arrives, or for a few seconds.
 */

const SHOWN_MS = 6_000;
/** Minimum time between two typing frames. */
const SEND_EVERY_MS = 3_000;

export const keyOf = (channel: string, threadTs?: string | null): string =>
	threadTs ? `${channel} ${threadTs}` : channel;

const NOBODY: readonly string[] = [];

/** Subtypes of posted messages, as opposed to edits and deletions. */
const POSTS: ReadonlySet<string> = new Set(['thread_broadcast', 'bot_message', 'me_message', 'file_share']);

export class Typing {
	/** By conversation or thread: the typing users, each with the timer that removes the user. */
	private readonly typists = new Map<string, Map<string, unknown>>();
	private readonly shown = new Map<string, readonly string[]>();
	private readonly sentAt = new Map<string, number>();

	constructor(
		private readonly platform: Platform,
		private readonly send: (frame: Wire) => boolean,
		private readonly changed: (channel: string) => void,
	) {}

	in(key: string): readonly string[] {
		return this.shown.get(key) ?? NOBODY;
	}

	sendTyping(channel: string, threadTs?: string): void {
		const key = keyOf(channel, threadTs);
		const now = this.platform.now();
		if (now - (this.sentAt.get(key) ?? 0) < SEND_EVERY_MS) return;
		if (this.send({ type: 'typing', channel, ...(threadTs ? { thread_ts: threadTs } : {}) }))
			this.sentAt.set(key, now);
	}

	receive(event: Wire): void {
		const { type, subtype, channel, user, thread_ts: threadTs } = event;
		if (type === 'user_typing') this.start(channel, keyOf(channel, threadTs), user);
		else if (type === 'message' && (!subtype || POSTS.has(subtype)))
			this.stop(channel, keyOf(channel, threadTs), user);
	}

	private start(channel: string, key: string, user: string): void {
		const { timers } = this.platform;
		const users = this.typists.get(key) ?? new Map<string, unknown>();
		this.typists.set(key, users);
		timers.clear(users.get(user));
		const isNew = !users.has(user);
		users.set(
			user,
			timers.set(() => this.stop(channel, key, user), SHOWN_MS),
		);
		if (isNew) this.show(channel, key, users);
	}

	private stop(channel: string, key: string, user: string): void {
		const users = this.typists.get(key);
		if (!users?.has(user)) return;
		this.platform.timers.clear(users.get(user));
		users.delete(user);
		if (users.size === 0) this.typists.delete(key);
		this.show(channel, key, users);
	}

	private show(channel: string, key: string, users: ReadonlyMap<string, unknown>): void {
		if (users.size > 0) this.shown.set(key, [...users.keys()]);
		else this.shown.delete(key);
		this.changed(channel);
	}
}
