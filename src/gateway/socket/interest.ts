import type { Bus, BusMessage, Topic } from '../../engine/ports/bus.ts';

/** Local listeners by topic. The bus is subscribed to a topic while it has listeners. */
export class Interest<T extends Topic, Listener> {
	private readonly topics = new Map<Topic, Listener[]>();

	constructor(
		private readonly bus: Bus,
		private readonly deliver: (listeners: readonly Listener[], message: BusMessage, topic: T) => void,
	) {}

	/** One function for all topics, because a closure for each would take memory. */
	private readonly receive = (message: BusMessage, topic: Topic): void => {
		const listeners = this.topics.get(topic);
		if (listeners) this.deliver(listeners, message, topic as T);
	};

	has(topic: T, listener: Listener): boolean {
		return this.topics.get(topic)?.includes(listener) ?? false;
	}

	add(topic: T, listener: Listener): void {
		const known = this.topics.get(topic);
		if (known) {
			known.push(listener);
			return;
		}
		this.topics.set(topic, [listener]);
		this.bus.subscribe(topic, this.receive);
	}

	/** Replaces the listener with the last one: their order does not matter. */
	remove(topic: T, listener: Listener): void {
		const listeners = this.topics.get(topic);
		const index = listeners?.indexOf(listener) ?? -1;
		if (!listeners || index < 0) return;
		const last = listeners.pop();
		if (last !== undefined && index < listeners.length) listeners[index] = last;
		if (listeners.length > 0) return;
		this.bus.unsubscribe(topic, this.receive);
		this.topics.delete(topic);
	}
}
