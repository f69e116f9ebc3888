/** Items that arrive in order and can be awaited: frames of a socket, events of a client. */

/** Long enough for a busy machine: an item that has not arrived by then never will. */
const PATIENCE_MS = 10_000;

export class Awaited<T> {
	readonly items: T[] = [];
	private readonly listeners = new Set<() => void>();

	add(item: T): void {
		this.items.push(item);
		for (const listener of this.listeners) listener();
	}

	/** The first `count` matching items, including those that have already arrived. `describe` is for the error text. */
	all(count: number, matches: (item: T) => boolean, describe: () => string): Promise<T[]> {
		return new Promise((resolve, reject) => {
			const check = () => {
				const found = this.items.filter(matches);
				if (found.length < count) return;
				end();
				resolve(found.slice(0, count));
			};
			const timer = setTimeout(() => {
				end();
				reject(new Error(`timed out waiting for ${describe()}`));
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
