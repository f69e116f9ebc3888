import type { Platform } from './platform.ts';
import type { Wire } from './wire.ts';

/** Who is typing where. Nobody says that they stopped: it ends with their message, or by itself. */

const SHOWN_MS = 6_000;
/** How often typing is sent at most. */
const TELL_EVERY_MS = 3_000;

export const placeOf = (channel: string, threadTs?: string | null): string =>
	threadTs ? `${channel} ${threadTs}` : channel;

const NOBODY: readonly string[] = [];

/** Subtypes of messages that somebody wrote, not of what happened to one. */
const POSTS: ReadonlySet<string> = new Set(['thread_broadcast', 'bot_message', 'me_message']);
export class Typing {
	/** By place, the users and the timers that end it. */
	private readonly places = new Map<string, Map<string, unknown>>();
	private readonly shown = new Map<string, readonly string[]>();
	private readonly toldAt = new Map<string, number>();

	constructor(
		private readonly platform: Platform,
		private readonly send: (frame: Wire) => boolean,
		private readonly changed: (channel: string) => void,
	) {}

	in(place: string): readonly string[] {
		return this.shown.get(place) ?? NOBODY;
	}

	tell(channel: string, threadTs?: string): void {
		const place = placeOf(channel, threadTs);
		const now = this.platform.now();
		if (now - (this.toldAt.get(place) ?? 0) < TELL_EVERY_MS) return;
		if (this.send({ type: 'typing', channel, ...(threadTs ? { thread_ts: threadTs } : {}) }))
			this.toldAt.set(place, now);
	}

	receive(event: Wire): void {
		const { type, subtype, channel, user, thread_ts: threadTs } = event;
		if (type === 'user_typing') this.start(channel, placeOf(channel, threadTs), user);
		else if (type === 'message' && (!subtype || POSTS.has(subtype)))
			this.stop(channel, placeOf(channel, threadTs), user);
	}

	private start(channel: string, place: string, user: string): void {
		const { timers } = this.platform;
		const users = this.places.get(place) ?? new Map<string, unknown>();
		this.places.set(place, users);
		timers.clear(users.get(user));
		const isNew = !users.has(user);
		users.set(
			user,
			timers.set(() => this.stop(channel, place, user), SHOWN_MS),
		);
		if (isNew) this.show(channel, place, users);
	}

	private stop(channel: string, place: string, user: string): void {
		const users = this.places.get(place);
		if (!users?.has(user)) return;
		this.platform.timers.clear(users.get(user));
		users.delete(user);
		if (users.size === 0) this.places.delete(place);
		this.show(channel, place, users);
	}

	private show(channel: string, place: string, users: ReadonlyMap<string, unknown>): void {
		if (users.size > 0) this.shown.set(place, [...users.keys()]);
		else this.shown.delete(place);
		this.changed(channel);
	}
}
