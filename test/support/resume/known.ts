import { expect } from 'bun:test';
import { type Event, LiveCounts } from '../live/counts.ts';

/**
 * A client's state built from events alone: conversations, messages, follows and counts. It checks that messages arrive
 * in order, once, and without a gap.
 */

interface KnownMessage {
	text: string;
	edited: boolean;
	inTimeline: boolean;
}

interface KnownConversation {
	/** The ts of the newest known message in the timeline. Null: none is known, so the next one may follow an unknown message. */
	last: string | null;
	readonly messages: Map<string, KnownMessage>;
	readonly properties: Map<string, string>;
}

const JOINED = new Set(['channel_joined', 'group_joined', 'mpim_joined', 'im_created']);
const LEFT = new Set(['channel_left', 'group_left']);
const PROPERTY = /^(channel|group)_(rename|topic|purpose|archive|unarchive)$/;

const threadKey = (event: Event): string => `${event.subscription.channel} ${event.subscription.thread_ts}`;

export class Known {
	readonly counts: LiveCounts;
	readonly conversations = new Map<string, KnownConversation>();
	readonly follows = new Set<string>();
	/** All messages that arrived as new; a second arrival is an error, unless events may repeat. */
	private readonly received = new Set<string>();
	/** Messages that were deleted. Repeated events may still bring them. */
	private readonly gone = new Set<string>();

	constructor(
		user: string,
		/** In a cluster, a resuming client gets some events again. */
		private readonly mayRepeat: boolean,
	) {
		this.counts = new LiveCounts(user);
	}

	apply(event: Event): void {
		this.counts.apply(event);
		if (JOINED.has(event.type)) this.enter(event.channel.id);
		else if (LEFT.has(event.type)) this.leave(event.channel);
		else if (event.type === 'thread_subscribed') this.follows.add(threadKey(event));
		else if (event.type === 'thread_unsubscribed') this.follows.delete(threadKey(event));
		else if (event.type === 'message') this.message(event);
		else this.setProperty(event);
	}

	/** After a rejoin, nothing of the conversation is known. */
	enter(channel: string): void {
		this.leave(channel);
		this.conversations.set(channel, { last: null, messages: new Map(), properties: new Map() });
	}

	private leave(channel: string): void {
		this.conversations.delete(channel);
		for (const thread of this.follows) if (thread.startsWith(channel)) this.follows.delete(thread);
	}

	private setProperty(event: Event): void {
		const what = PROPERTY.exec(event.type)?.[2];
		if (what === undefined) return;
		const conversation = this.conversations.get(event.channel.id ?? event.channel);
		if (what === 'rename') conversation?.properties.set('name', event.channel.name);
		else if (what.endsWith('archive')) conversation?.properties.set('archived', String(what === 'archive'));
		else conversation?.properties.set(what, event[what]);
	}

	private message(event: Event): void {
		const conversation = this.conversations.get(event.channel);
		if (!conversation) {
			// The event is from before the client left, and arrives again afterwards.
			if (this.mayRepeat) return;
			throw new Error(`a message of ${event.channel}, which this client is not in`);
		}
		if (event.subtype === 'message_changed') {
			const known = conversation.messages.get(event.message.ts);
			if (known) Object.assign(known, { text: event.message.text, edited: true });
		} else if (event.subtype === 'message_deleted') {
			this.gone.add(`${event.channel} ${event.deleted_ts}`);
			this.forget(conversation, event.deleted_ts);
		} else if (event.subtype !== 'message_replied') this.posted(conversation, event);
	}

	private posted(conversation: KnownConversation, event: Event): void {
		const key = `${event.channel} ${event.ts}`;
		if (!this.mayRepeat) expect(this.received.has(key)).toBe(false);
		this.received.add(key);
		const inTimeline = event.prev_ts !== undefined;
		if (inTimeline) {
			if (!this.gone.has(key)) this.checkGap(conversation, event);
			if (conversation.last === null || event.ts > conversation.last) conversation.last = event.ts;
		}
		conversation.messages.set(event.ts, { text: event.text, edited: event.edited !== undefined, inTimeline });
	}

	/** The message must follow the newest known one. A repeated message may follow an older one, but never an unknown newer one. */
	private checkGap({ last }: KnownConversation, { channel, ts, prev_ts }: Event): void {
		if (last === null) return;
		if (!this.mayRepeat) expect([channel, ts, prev_ts]).toEqual([channel, ts, last]);
		else expect([channel, ts, prev_ts <= last]).toEqual([channel, ts, true]);
	}

	private forget(conversation: KnownConversation, ts: string): void {
		conversation.messages.delete(ts);
		if (conversation.last !== ts) return;
		const left = [...conversation.messages].filter(([, { inTimeline }]) => inTimeline).map(([one]) => one);
		conversation.last = left.sort().at(-1) ?? null;
	}

	/** The whole state, for comparison. */
	shown() {
		// An archived conversation does not count, even if a row of it arrived later.
		const rows = [...this.counts.rows.values()]
			.filter(({ id }) => this.conversations.get(id)?.properties.get('archived') !== 'true')
			.map(({ position: _, ...row }) => row);
		return {
			conversations: [...this.conversations].sort().map(([id, { messages, properties }]) => ({
				id,
				messages: [...messages].sort(([a], [b]) => (a < b ? -1 : 1)),
				properties: [...properties].sort(),
			})),
			follows: [...this.follows].sort(),
			rows: rows.sort((a, b) => (a.id < b.id ? -1 : 1)),
		};
	}
}
