import type { Bus, BusMessage, Topic } from '../ports/bus.ts';

type Handler = (message: BusMessage) => void;

/** Live messages within this process: a publish is a call. */
export class MemoryBus implements Bus {
	readonly immediate: boolean = true;
	private readonly handlers = new Map<Topic, Handler[]>();

	async ready(): Promise<void> {}

	publish(topic: Topic, message: BusMessage): void {
		const handlers = this.handlers.get(topic);
		if (handlers) for (const handler of handlers) handler(message);
	}

	subscribe(topic: Topic, handler: Handler): () => void {
		// Lists are replaced, never changed: a publish under way keeps the one it started with.
		this.handlers.set(topic, [...(this.handlers.get(topic) ?? []), handler]);
		return () => {
			const left = (this.handlers.get(topic) ?? []).filter((one) => one !== handler);
			if (left.length > 0) this.handlers.set(topic, left);
			else this.handlers.delete(topic);
		};
	}
}
