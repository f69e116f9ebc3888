import type { Process, Scheduler } from './scheduler.ts';

/**
 * Replaces timers, clocks and randomness of the runtime while a history runs. Timers and clocks act for the process of the current event.
 * Outside of an event they throw, so that no code reads the real clock unnoticed.
 */

const real = {
	setTimeout: globalThis.setTimeout,
	clearTimeout: globalThis.clearTimeout,
	setInterval: globalThis.setInterval,
	clearInterval: globalThis.clearInterval,
	setImmediate: globalThis.setImmediate,
	clearImmediate: globalThis.clearImmediate,
	Date: globalThis.Date,
	performanceNow: performance.now,
	random: Math.random,
	getRandomValues: crypto.getRandomValues,
	randomUUID: crypto.randomUUID,
	sleep: Bun.sleep,
	serve: Bun.serve,
	abortTimeout: AbortSignal.timeout,
	fetch: globalThis.fetch,
};

/** Longest delay of an immediate, so that events of other processes can run before it. */
const TURN_MS = 0.05;

class Timer {
	private event: ReturnType<Scheduler['at']> | undefined;

	constructor(
		private readonly owner: Process,
		private readonly callback: (...args: unknown[]) => void,
		private readonly ms: number,
		private readonly repeats: boolean,
		private readonly args: unknown[],
	) {
		this.arm();
	}

	private arm(): void {
		const { owner, ms } = this;
		// Without a label, which would fill the trace: later lines show what the timer did.
		this.event = owner.scheduler.at(owner, ms, '', () => {
			if (this.repeats) this.arm();
			this.callback(...this.args);
		});
	}

	refresh(): this {
		this.cancel();
		this.arm();
		return this;
	}

	cancel(): void {
		if (this.event) this.event.cancelled = true;
	}

	ref(): this {
		return this;
	}

	unref(): this {
		return this;
	}

	hasRef(): boolean {
		return true;
	}
}

const clear = (timer: unknown): void => {
	if (timer instanceof Timer) timer.cancel();
};

export interface SimulatedServer {
	readonly serve: (owner: Process, options: unknown) => unknown;
}

/** Returns a function that restores the real globals. */
export function installGlobals(scheduler: Scheduler, network: SimulatedServer): () => void {
	const owner = (what: string): Process => {
		if (!scheduler.current) throw new Error(`${what} outside of a simulated process`);
		return scheduler.current;
	};
	const wallMs = (): number => {
		const process = owner('Date');
		return Math.floor(scheduler.now + process.clockOffsetMs);
	};
	class SimulatedDate extends real.Date {
		constructor(...args: unknown[]) {
			if (args.length === 0) super(wallMs());
			else super(...(args as [number]));
		}
		static override now(): number {
			return wallMs();
		}
	}
	type Callback = (...args: unknown[]) => void;
	const atLeastOne = (ms: number | undefined): number => Math.max(1, Number(ms) || 0);
	const replaced = {
		setTimeout: (callback: Callback, ms?: number, ...args: unknown[]) =>
			new Timer(owner('setTimeout'), callback, atLeastOne(ms), false, args),
		setInterval: (callback: Callback, ms?: number, ...args: unknown[]) =>
			new Timer(owner('setInterval'), callback, atLeastOne(ms), true, args),
		setImmediate: (callback: Callback, ...args: unknown[]) => {
			const process = owner('setImmediate');
			const due = Math.max(process.immediatesUntil, scheduler.now + scheduler.random.next() * TURN_MS);
			process.immediatesUntil = due;
			return new Timer(process, callback, due - scheduler.now, false, args);
		},
		clearTimeout: clear,
		clearInterval: clear,
		clearImmediate: clear,
		Date: SimulatedDate,
		fetch: () => {
			throw new Error('fetch outside of the simulated network');
		},
	};
	Object.assign(globalThis, replaced);
	performance.now = () => scheduler.now - owner('performance.now').startedAt + 1_000;
	Math.random = () => scheduler.random.next();
	crypto.getRandomValues = (<T extends ArrayBufferView>(array: T): T => {
		const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
		for (let index = 0; index < bytes.length; index += 1) bytes[index] = scheduler.random.below(256);
		return array;
	}) as typeof crypto.getRandomValues;
	crypto.randomUUID = () => {
		const digits = Array.from({ length: 32 }, () => scheduler.random.below(16).toString(16)).join('');
		return digits.replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, '$1-$2-$3-$4-$5') as ReturnType<
			typeof crypto.randomUUID
		>;
	};
	const bun = Bun as { sleep: unknown; serve: unknown };
	bun.sleep = (ms: number) => new Promise<void>((resolve) => replaced.setTimeout(() => resolve(), ms));
	bun.serve = (options: unknown) => network.serve(owner('Bun.serve'), options);
	// Never fires: in the simulated network, connections fail earlier.
	AbortSignal.timeout = () => new AbortController().signal;
	return () => {
		const { performanceNow, random, getRandomValues, randomUUID, sleep, serve, abortTimeout, ...globals } =
			real;
		Object.assign(globalThis, globals);
		performance.now = performanceNow;
		Math.random = random;
		crypto.getRandomValues = getRandomValues;
		crypto.randomUUID = randomUUID;
		bun.sleep = sleep;
		bun.serve = serve;
		AbortSignal.timeout = abortTimeout;
	};
}
