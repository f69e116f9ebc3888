/** Items that arrive in order and can be awaited: frames of a socket, events of a client. */

/** Long enough for a busy machine; what has not arrived by then never will. */
const PATIENCE_MS = 10_000;

export class Awaited<T> {
	readonly items: T[] = [];
	private readonly listeners = new Set<() => void>();

	add(item: T): void {
		this.items.push(item);
		for (const listener of this.listeners) listener();
	}

	/** This many matching items in order of arrival, whether they have arrived or are still to come. */
	all(count: number, matches: (item: T) => boolean, inVain: () => string): Promise<T[]> {
		return new Promise((resolve, reject) => {
			const check = () => {
				const found = this.items.filter(matches);
				if (found.length < count) return;
				end();
				resolve(found.slice(0, count));
			};
			const timer = setTimeout(() => {
				end();
				reject(new Error(`waited in vain for ${inVain()}`));
			}, PATIENCE_MS);
			const end = () => {
				clearTimeout(timer);
				this.listeners.delete(check);
			};
			this.listeners.add(check);
			check();
		});
	}
}
