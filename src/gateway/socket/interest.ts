import type { Bus, BusMessage, Topic } from '../../engine/ports/bus.ts';

/** Who here is interested in a topic. The bus is subscribed to while anybody is. */
export class Interest<T extends Topic, Listener> {
	private readonly topics = new Map<T, { readonly listeners: Listener[]; readonly end: () => void }>();

	constructor(
		private readonly bus: Bus,
		private readonly deliver: (listeners: readonly Listener[], message: BusMessage, topic: T) => void,
	) {}

	has(topic: T, listener: Listener): boolean {
		return this.topics.get(topic)?.listeners.includes(listener) ?? false;
	}

	add(topic: T, listener: Listener): void {
		const known = this.topics.get(topic);
		if (known) {
			known.listeners.push(listener);
			return;
		}
		const listeners = [listener];
		const end = this.bus.subscribe(topic, (message) => this.deliver(listeners, message, topic));
		this.topics.set(topic, { listeners, end });
	}

	/** The last one takes the place of the one that leaves: order among listeners means nothing. */
	remove(topic: T, listener: Listener): void {
		const known = this.topics.get(topic);
		const index = known?.listeners.indexOf(listener) ?? -1;
		if (!known || index < 0) return;
		const last = known.listeners.pop();
		if (last !== undefined && index < known.listeners.length) known.listeners[index] = last;
		if (known.listeners.length > 0) return;
		known.end();
		this.topics.delete(topic);
	}
}
