import { expect } from 'bun:test';
import { type Event, LiveCounts } from '../live/counts.ts';

/**
 * What a client knows from events alone: conversations, messages, what it follows, and counts. It checks as it
 * goes that messages come in order, once, and without a gap.
 */

interface KnownMessage {
	text: string;
	edited: boolean;
	inTimeline: boolean;
}

interface KnownConversation {
	/** Whether it was in view from the first message on: else the first one may follow on something unknown. */
	last: string | null;
	readonly messages: Map<string, KnownMessage>;
	readonly facts: Map<string, string>;
}

const JOINED = new Set(['channel_joined', 'group_joined', 'mpim_joined', 'im_created']);
const LEFT = new Set(['channel_left', 'group_left']);
const FACT = /^(channel|group)_(rename|topic|purpose|archive|unarchive)$/;

const threadKey = (event: Event): string => `${event.subscription.channel} ${event.subscription.thread_ts}`;

export class Known {
	readonly counts: LiveCounts;
	readonly conversations = new Map<string, KnownConversation>();
	readonly follows = new Set<string>();
	/** Messages ever heard of as new; the same one twice is a fault, unless it may repeat. */
	private readonly heard = new Set<string>();
	/** Of which it was told that they are deleted. What is heard of them after that follows on what was there before. */
	private readonly gone = new Set<string>();

	constructor(
		user: string,
		/** Who resumes in a cluster is told some of what it has heard once more. */
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
		else this.fact(event);
	}

	/** Everything starts anew with who comes in. */
	enter(channel: string): void {
		this.leave(channel);
		this.conversations.set(channel, { last: null, messages: new Map(), facts: new Map() });
	}

	private leave(channel: string): void {
		this.conversations.delete(channel);
		for (const thread of this.follows) if (thread.startsWith(channel)) this.follows.delete(thread);
	}

	private fact(event: Event): void {
		const what = FACT.exec(event.type)?.[2];
		if (what === undefined) return;
		const conversation = this.conversations.get(event.channel.id ?? event.channel);
		if (what === 'rename') conversation?.facts.set('name', event.channel.name);
		else if (what.endsWith('archive')) conversation?.facts.set('archived', String(what === 'archive'));
		else conversation?.facts.set(what, event[what]);
	}

	private message(event: Event): void {
		const conversation = this.conversations.get(event.channel);
		if (!conversation) {
			// It was said before the client left, and is told once more after that.
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
		if (!this.mayRepeat) expect(this.heard.has(key)).toBe(false);
		this.heard.add(key);
		const inTimeline = event.prev_ts !== undefined;
		if (inTimeline) {
			if (!this.gone.has(key)) this.checkGap(conversation, event);
			if (conversation.last === null || event.ts > conversation.last) conversation.last = event.ts;
		}
		conversation.messages.set(event.ts, { text: event.text, edited: event.edited !== undefined, inTimeline });
	}

	/** One that is told once more follows on what was there then; on something unknown it must never follow. */
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

	/** All of it, to be compared. */
	shown() {
		// What is archived counts no more, whatever is told of it.
		const rows = [...this.counts.rows.values()]
			.filter(({ id }) => this.conversations.get(id)?.facts.get('archived') !== 'true')
			.map(({ position: _, ...row }) => row);
		return {
			conversations: [...this.conversations].sort().map(([id, { messages, facts }]) => ({
				id,
				messages: [...messages].sort(([a], [b]) => (a < b ? -1 : 1)),
				facts: [...facts].sort(),
			})),
			follows: [...this.follows].sort(),
			rows: rows.sort((a, b) => (a.id < b.id ? -1 : 1)),
		};
	}
}
