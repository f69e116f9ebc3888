import { drainMicrotasks } from 'bun:jsc';
import { Random } from '../support/oracle/random.ts';

/**
 * The event loop of a simulated history. Timers, sockets, disks and other processes schedule events here, and the seed decides when each
 * is due. An event belongs to one process. All promises that it settles run to their end before the next event begins: the loop never
 * yields to the real event loop, so nothing real can happen in between.
 */

/** When histories begin, in milliseconds since 1970. */
export const BEGINNING_MS = 1_800_000_000_000;

export interface Scheduled {
	due: number;
	readonly order: number;
	readonly owner: Process;
	readonly label: string;
	readonly run: () => void;
	cancelled: boolean;
}

/** Anything that runs and dies independently: a server, a device, a disk. */
export class Process {
	alive = true;
	/** Offset of its wall clock from the simulated time. */
	clockOffsetMs = 0;
	/** Its events are postponed to this time. */
	pausedUntil = 0;
	/** When the newest immediate is due: later ones must not run before it. */
	immediatesUntil = 0;
	/** Called when the process dies. */
	readonly onDeath = new Set<() => void>();
	readonly startedAt: number;

	constructor(
		readonly name: string,
		readonly scheduler: Scheduler,
	) {
		this.startedAt = scheduler.now;
	}

	kill(): void {
		if (!this.alive) return;
		this.alive = false;
		for (const notify of [...this.onDeath]) notify();
	}
}

export class StuckHistory extends Error {}

export class Scheduler {
	now = BEGINNING_MS;
	current: Process | null = null;
	steps = 0;
	/** Hash of all notes in order: two runs of one seed have the same hash. */
	hash = 0;
	readonly random: Random;
	/** Called with the name of each path that the program takes; coverage.ts counts them. */
	reached: (path: string) => void = () => undefined;
	/** The trace; null unless it was requested. */
	readonly lines: string[] | null;
	private readonly heap: Scheduled[] = [];
	private orders = 0;
	private failure: unknown;

	constructor(
		readonly seed: number,
		options: { readonly trace?: boolean } = {},
	) {
		this.random = new Random(seed);
		this.lines = options.trace ? [] : null;
	}

	process(name: string): Process {
		return new Process(name, this);
	}

	/** A random delay between two bounds, mostly near the lower one. */
	latency(least: number, most: number): number {
		const draw = this.random.next();
		return least + (most - least) * draw * draw * draw;
	}

	at(owner: Process, delayMs: number, label: string, run: () => void): Scheduled {
		const event: Scheduled = {
			due: this.now + Math.max(0, delayMs),
			order: this.orders++,
			owner,
			label,
			run,
			cancelled: false,
		};
		this.push(event);
		return event;
	}

	/** Runs code now, as part of this process: timers and promises that it creates belong to the process. */
	within<T>(owner: Process, run: () => T): T {
		const before = this.current;
		this.current = owner;
		try {
			return run();
		} finally {
			this.current = before;
		}
	}

	note(text: string): void {
		const who = this.current?.name ?? '-';
		this.hash = Bun.hash.xxHash32(`${this.now} ${who} ${text}`, this.hash);
		if (!this.lines) return;
		const at = (this.now - BEGINNING_MS).toFixed(3);
		this.lines.push(`${at.padStart(12)}  ${who.padEnd(12)} ${text}`);
	}

	/** Reports an error that no promise carries; it ends the history. */
	fail(error: unknown): void {
		this.failure ??= error;
	}

	/** Runs events until the work is settled. Throws if the work rejects, or at a limit. */
	runUntilSettled<T>(work: Promise<T>, limits: { readonly steps: number; readonly ms: number }): T {
		let state: { readonly value: T } | { readonly error: unknown } | null = null;
		work.then(
			(value) => {
				state = { value };
			},
			(error) => {
				state = { error };
			},
		);
		drainMicrotasks();
		const end = this.now + limits.ms;
		while (state === null) {
			if (this.failure !== undefined) throw this.failure;
			if (this.steps > limits.steps) throw new StuckHistory(`not settled after ${limits.steps} events`);
			if (this.now > end) throw new StuckHistory(`not settled after ${limits.ms / 1000} simulated seconds`);
			if (!this.step()) throw new StuckHistory('no event is scheduled, and the history is not settled');
		}
		const settled = state as { readonly value: T } | { readonly error: unknown };
		if ('error' in settled) throw settled.error;
		return settled.value;
	}

	private step(): boolean {
		const event = this.pop();
		if (!event) return false;
		if (event.cancelled || !event.owner.alive) return true;
		this.now = Math.max(this.now, event.due);
		if (event.owner.pausedUntil > this.now) {
			event.due = event.owner.pausedUntil;
			this.push(event);
			return true;
		}
		this.steps += 1;
		this.current = event.owner;
		if (event.label !== '') this.note(event.label);
		try {
			event.run();
		} catch (error) {
			this.fail(error);
		}
		drainMicrotasks();
		this.current = null;
		return true;
	}

	private push(event: Scheduled): void {
		const { heap } = this;
		let place = heap.length;
		heap.push(event);
		while (place > 0) {
			const parent = (place - 1) >> 1;
			if (!isBefore(event, heap[parent] as Scheduled)) break;
			heap[place] = heap[parent] as Scheduled;
			place = parent;
		}
		heap[place] = event;
	}

	private pop(): Scheduled | undefined {
		const { heap } = this;
		const first = heap[0];
		const last = heap.pop();
		if (!first || !last || heap.length === 0) return first;
		let place = 0;
		for (;;) {
			let child = 2 * place + 1;
			if (child >= heap.length) break;
			if (child + 1 < heap.length && isBefore(heap[child + 1] as Scheduled, heap[child] as Scheduled))
				child += 1;
			if (!isBefore(heap[child] as Scheduled, last)) break;
			heap[place] = heap[child] as Scheduled;
			place = child;
		}
		heap[place] = last;
		return first;
	}
}

const isBefore = (a: Scheduled, b: Scheduled): boolean =>
	a.due < b.due || (a.due === b.due && a.order < b.order);
