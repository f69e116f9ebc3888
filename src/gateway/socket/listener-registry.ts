import type { Bus, BusMessage, Topic } from '../../engine/ports/bus.ts';

/**
 * Local listeners by conversation. A user listens to perhaps fifty conversations, so both sides refer to each other by slot number,
 * which takes two bytes, or four if there are many slots. The bus is subscribed to a conversation while it has listeners.
 */

/** A listener, with fields that the registry maintains. */
export interface RegisteredListener {
	/** Its slot number in the registry; -1: not registered. */
	slot: number;
	/** Slot numbers of the conversations that it listens to. */
	topics: SlotNumbers;
}

export type SlotNumbers = Uint16Array | Uint32Array;
const MAX_SHORT = 0xffff;
const slotNumbers = (length: number, slots: number): SlotNumbers =>
	slots > MAX_SHORT ? new Uint32Array(length) : new Uint16Array(length);

const NO_TOPICS: SlotNumbers = new Uint16Array(0);
export const NOT_REGISTERED = { slot: -1, topics: NO_TOPICS } as const;

type LiveTopic = `live:${string}`;
const topicOf = (conversation: string): LiveTopic => `live:${conversation}`;

/** The listeners of one conversation, in no order. */
class TopicListeners<Listener extends RegisteredListener> {
	private size = 0;
	private slots = slotNumbers(4, 0);

	constructor(
		readonly number: number,
		private readonly allListeners: Slots<Listener>,
	) {}

	get isEmpty(): boolean {
		return this.size === 0;
	}

	/** A copy of the current listeners: a listener may leave while it is called. */
	listeners(): Listener[] {
		const there: Listener[] = [];
		for (let index = 0; index < this.size; index += 1) {
			const listener = this.allListeners.at(this.slots[index] as number);
			if (listener) there.push(listener);
		}
		return there;
	}

	enter(slot: number): void {
		const isTooLarge = slot > MAX_SHORT && this.slots instanceof Uint16Array;
		if (this.size === this.slots.length || isTooLarge) {
			// Grow by a quarter: doubling would leave up to half of it empty.
			const grown = slotNumbers(this.size + Math.max(4, this.size >>> 2), this.allListeners.count);
			grown.set(this.slots.subarray(0, this.size));
			this.slots = grown;
		}
		this.slots[this.size] = slot;
		this.size += 1;
	}

	/** Replaces the listener with the last one. */
	leave(slot: number): void {
		const index = this.slots.indexOf(slot);
		if (index < 0 || index >= this.size) return;
		this.size -= 1;
		this.slots[index] = this.slots[this.size] as number;
	}
}

export class ListenerRegistry<Listener extends RegisteredListener> {
	private readonly allListeners = new Slots<Listener>();
	private readonly topics = new Slots<{
		readonly topic: LiveTopic;
		readonly entry: TopicListeners<Listener>;
	}>();
	private readonly byTopic = new Map<Topic, TopicListeners<Listener>>();

	constructor(
		private readonly bus: Bus,
		private readonly deliver: (listeners: readonly Listener[], message: BusMessage, topic: Topic) => void,
	) {}

	private readonly receive = (message: BusMessage, topic: Topic): void => {
		const entry = this.byTopic.get(topic);
		if (entry) this.deliver(entry.listeners(), message, topic);
	};

	isListening(listener: Listener, conversation: string): boolean {
		const entry = this.byTopic.get(topicOf(conversation));
		return entry !== undefined && listener.topics.includes(entry.number);
	}

	/** Adds conversations that the listener does not listen to yet. */
	listen(listener: Listener, conversations: ReadonlySet<string>): void {
		if (listener.slot < 0) listener.slot = this.allListeners.put(listener);
		const entered = Array.from(conversations, (conversation) => this.listenersOf(topicOf(conversation)));
		for (const entry of entered) entry.enter(listener.slot);
		const known = listener.topics;
		listener.topics = slotNumbers(known.length + entered.length, this.topics.count);
		listener.topics.set(known);
		listener.topics.set(
			entered.map(({ number }) => number),
			known.length,
		);
	}

	leave(listener: Listener, conversation: string): void {
		const entry = this.byTopic.get(topicOf(conversation));
		if (!entry || !listener.topics.includes(entry.number)) return;
		listener.topics = listener.topics.filter((number) => number !== entry.number);
		this.left(entry.number, listener.slot);
	}

	/** Removes a listener that is gone. */
	leaveAll(listener: Listener): void {
		for (const number of listener.topics) this.left(number, listener.slot);
		if (listener.slot >= 0) this.allListeners.free(listener.slot);
		Object.assign(listener, NOT_REGISTERED);
	}

	private listenersOf(topic: LiveTopic): TopicListeners<Listener> {
		const known = this.byTopic.get(topic);
		if (known) return known;
		const entry = new TopicListeners<Listener>(this.topics.next, this.allListeners);
		this.topics.put({ topic, entry });
		this.byTopic.set(topic, entry);
		this.bus.subscribe(topic, this.receive);
		return entry;
	}

	private left(number: number, slot: number): void {
		const found = this.topics.at(number);
		found?.entry.leave(slot);
		if (!found?.entry.isEmpty) return;
		this.topics.free(number);
		this.byTopic.delete(found.topic);
		this.bus.unsubscribe(found.topic, this.receive);
	}
}

/** Assigns numbers to items and reuses free ones. */
class Slots<T> {
	private readonly items: (T | undefined)[] = [];
	private readonly unused: number[] = [];

	/** Every number is lower than this. */
	get count(): number {
		return this.items.length;
	}

	/** The number that the next item gets. */
	get next(): number {
		return this.unused.at(-1) ?? this.items.length;
	}

	at(number: number): T | undefined {
		return this.items[number];
	}

	put(item: T): number {
		const number = this.unused.pop() ?? this.items.length;
		this.items[number] = item;
		return number;
	}

	free(number: number): void {
		this.items[number] = undefined;
		this.unused.push(number);
	}
}
