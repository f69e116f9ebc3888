import type { Bus, BusHandler, BusMessage, Publisher, Topic } from '../ports/bus.ts';

/** The bus inside one process: a publish is a function call. */
export class MemoryBus implements Bus {
	/** Most topics belong to a user and have one handler, which is stored without a list to save memory. */
	private readonly handlers = new Map<Topic, BusHandler | readonly BusHandler[]>();

	async ready(): Promise<void> {}

	isReceiving(): boolean {
		return true;
	}

	publish(topic: Topic, message: BusMessage): void {
		const handlers = this.handlers.get(topic);
		if (!handlers) return;
		if (typeof handlers === 'function') handlers(message, topic);
		else for (const handler of handlers) handler(message, topic);
	}

	/** A single process always owns the partition, so no publication has to be fenced. */
	async publishAs(_: Publisher, topic: Topic, message: BusMessage): Promise<boolean> {
		this.publish(topic, message);
		return true;
	}

	subscribe(topic: Topic, handler: BusHandler): void {
		const others = this.of(topic);
		// Lists are copied, never changed: a publish in progress keeps the list it started with.
		this.handlers.set(topic, others.length === 0 ? handler : [...others, handler]);
	}

	unsubscribe(topic: Topic, handler: BusHandler): void {
		const left = this.of(topic).filter((one) => one !== handler);
		if (left.length === 0) this.handlers.delete(topic);
		else this.handlers.set(topic, left);
	}

	private of(topic: Topic): readonly BusHandler[] {
		const handlers = this.handlers.get(topic) ?? [];
		return typeof handlers === 'function' ? [handlers] : handlers;
	}
}
