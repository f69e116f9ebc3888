/** What comes in order and can be waited for: frames of a socket, events of a client. */

/** Long enough for a busy machine; what has not come by then does not come. */
const PATIENCE_MS = 10_000;

export class Awaited<T> {
	readonly items: T[] = [];
	private readonly listeners = new Set<() => void>();

	add(item: T): void {
		this.items.push(item);
		for (const listener of this.listeners) listener();
	}

	/** So many that match, in the order they came, whether they came already or are still to come. */
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
