import { SharedMap } from './shared-map.ts';
import type { Presence } from './types.ts';
import type { Wire } from './wire.ts';

/** The presence of watched users. */

/** The server's limit. */
const MAX_WATCHED = 500;

export class Presences {
	readonly known = new SharedMap<string, Presence>();
	private readonly watchers = new Map<string, number>();
	private isDue = false;

	constructor(
		private readonly send: (frame: Wire) => boolean,
		private readonly changed: () => void,
	) {}

	watch(users: readonly string[]): () => void {
		for (const user of users) this.countWatcher(user, 1);
		let isWatching = true;
		return () => {
			if (!isWatching) return;
			isWatching = false;
			for (const user of users) this.countWatcher(user, -1);
		};
	}

	online(): void {
		if (this.watchers.size > 0) this.subscribe();
	}

	receive({ type, user, presence }: Wire): void {
		if (type !== 'presence_change' || !this.watchers.has(user)) return;
		this.known.set(user, presence);
		this.changed();
	}

	private countWatcher(user: string, change: 1 | -1): void {
		const watchers = (this.watchers.get(user) ?? 0) + change;
		if (watchers > 0) this.watchers.set(user, watchers);
		else {
			this.watchers.delete(user);
			this.known.delete(user);
			this.changed();
		}
		if (this.isDue) return;
		// A subscription replaces the previous one: send the changes of one turn together.
		this.isDue = true;
		queueMicrotask(() => this.subscribe());
	}

	private subscribe(): void {
		this.isDue = false;
		this.send({ type: 'presence_sub', ids: [...this.watchers.keys()].slice(0, MAX_WATCHED) });
	}
}
