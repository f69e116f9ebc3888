import { LiveConversation } from './conversation-store.ts';
import type { Core } from './core.ts';
import { LiveThread } from './thread-store.ts';
import { isReactionOrPin, type Wire } from './wire.ts';

/**
 * The stores of conversations and threads, one for each. A store that has lost its last subscriber still applies events.
 * If there are more than `MAX_UNWATCHED` of these, the one that was unsubscribed first evicts its messages.
 */

const MAX_UNWATCHED = 20;

type Live = LiveConversation | LiveThread;

export class LiveStores {
	private readonly conversations = new Map<string, LiveConversation>();
	/** By conversation, then by thread. */
	private readonly threads = new Map<string, Map<string, LiveThread>>();
	/** In the order in which they became unwatched. */
	private readonly unwatched = new Set<Live>();

	constructor(private readonly core: Core) {}

	conversation(id: string): LiveConversation {
		const known = this.conversations.get(id);
		if (known) return known;
		const made = new LiveConversation(id, this.core, (isWatched) => this.watched(made, isWatched));
		this.conversations.set(id, made);
		return made;
	}

	thread(channel: string, threadTs: string): LiveThread {
		const siblings = this.threads.get(channel) ?? new Map<string, LiveThread>();
		this.threads.set(channel, siblings);
		const known = siblings.get(threadTs);
		if (known) return known;
		const made = new LiveThread(channel, threadTs, this.core, (isWatched) => this.watched(made, isWatched));
		siblings.set(threadTs, made);
		return made;
	}

	/** Call when something other than messages has changed, in one conversation or in all. */
	touch(channel?: string): void {
		for (const live of this.in(channel)) live.touch();
	}

	receive(event: Wire): void {
		// The server does not store ephemeral messages, so no list contains them.
		if (event.is_ephemeral) return;
		if (event.type === 'message') for (const live of this.in(event.channel)) live.receive(event);
		if (isReactionOrPin(event)) for (const live of this.in(event.item.channel)) live.receive(event);
		const { subscription } = event;
		if (subscription)
			this.threads.get(subscription.channel)?.get(subscription.thread_ts)?.receiveFollowState(event);
	}

	/** Call when messages may have been missed, in one conversation or in all. */
	forget(channel?: string): void {
		for (const live of this.in(channel)) live.forget();
	}

	online(): void {
		for (const live of this.in()) live.online();
	}

	private *in(channel?: string): Iterable<Live> {
		if (channel === undefined) {
			yield* this.conversations.values();
			for (const siblings of this.threads.values()) yield* siblings.values();
			return;
		}
		const conversation = this.conversations.get(channel);
		if (conversation) yield conversation;
		yield* this.threads.get(channel)?.values() ?? [];
	}

	private watched(live: Live, isWatched: boolean): void {
		this.unwatched.delete(live);
		if (isWatched) return;
		this.unwatched.add(live);
		if (this.unwatched.size <= MAX_UNWATCHED) return;
		const [oldest] = this.unwatched;
		if (!oldest) return;
		this.unwatched.delete(oldest);
		oldest.forget();
	}
}
