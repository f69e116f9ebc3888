import type { Platform } from './platform.ts';
import type { Store } from './types.ts';

/**
 * Notifies listeners of changes: at once if the last notification was more than a frame ago, otherwise with the next
 * frame. Snapshots are built on demand, so events without a listener cost no copies.
 */

const FRAME_MS = 16;

interface Due {
	notify(): void;
}

export class Notifier {
	private readonly due = new Set<Due>();
	private notifiedAt = 0;

	constructor(private readonly platform: Platform) {}

	add(cell: Due): void {
		if (this.due.size === 0) this.schedule();
		this.due.add(cell);
	}

	/** Calls every listener. The error of one does not affect the others: it is thrown in a timer, as an uncaught error. */
	call<Values extends unknown[]>(listeners: Iterable<(...values: Values) => void>, ...values: Values): void {
		for (const listener of [...listeners])
			try {
				listener(...values);
			} catch (error) {
				this.platform.timers.set(() => {
					throw error;
				}, 0);
			}
	}

	private schedule(): void {
		const wait = this.notifiedAt + FRAME_MS - this.platform.now();
		if (wait <= 0 || wait > FRAME_MS) queueMicrotask(() => this.notifyAll());
		else this.platform.timers.set(() => this.notifyAll(), wait);
	}

	private notifyAll(): void {
		const due = [...this.due];
		this.due.clear();
		this.notifiedAt = this.platform.now();
		for (const cell of due) cell.notify();
	}
}

/** A store whose value is derived from other state on demand. A new value that equals the old one keeps its identity. */
export class Cell<T> implements Store<T> {
	private readonly listeners = new Set<() => void>();
	private value: T | undefined;
	private notified: T | undefined;
	private isStale = true;

	constructor(
		private readonly notifier: Notifier,
		private readonly make: (previous: T | undefined) => T,
		private readonly watched: (isWatched: boolean) => void = () => undefined,
	) {}

	readonly subscribe = (listener: () => void): (() => void) => {
		// A wrapper, so that one function can subscribe twice.
		const own = () => listener();
		if (this.listeners.size === 0) this.notified = this.getSnapshot();
		this.listeners.add(own);
		if (this.listeners.size === 1) this.watched(true);
		return () => {
			if (this.listeners.delete(own) && this.listeners.size === 0) this.watched(false);
		};
	};

	readonly getSnapshot = (): T => {
		if (this.isStale) {
			this.isStale = false;
			const made = this.make(this.value);
			if (!isSame(this.value, made)) this.value = made;
		}
		return this.value as T;
	};

	get isWatched(): boolean {
		return this.listeners.size > 0;
	}

	/** Call when the state that the value is derived from has changed. */
	touch(): void {
		this.isStale = true;
		if (this.listeners.size > 0) this.notifier.add(this);
	}

	notify(): void {
		const value = this.getSnapshot();
		if (Object.is(value, this.notified)) return;
		this.notified = value;
		this.notifier.call(this.listeners);
	}
}

/** Identical, or plain objects or lists with identical contents. */
export function isSame(one: unknown, other: unknown): boolean {
	if (Object.is(one, other)) return true;
	if (!isPlain(one) || !isPlain(other)) return false;
	const names = Object.keys(one);
	return (
		names.length === Object.keys(other).length && names.every((name) => Object.is(one[name], other[name]))
	);
}

function isPlain(value: unknown): value is Record<string, unknown> {
	if (typeof value !== 'object' || value === null) return false;
	const prototype: unknown = Object.getPrototypeOf(value);
	return prototype === Object.prototype || prototype === Array.prototype;
}
