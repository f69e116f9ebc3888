import { beingRestored, type Epoch, type Whole } from './epoch.ts';
import { EpochOver, RedisUnavailable } from './trouble.ts';

/**
 * What a process may rely on while Redis can be lost at any moment: loads, marks and answers are those of one epoch.
 *
 * - A load tells the script that writes which epoch it was read in. Redis refuses it in any other.
 * - An answer, and what was decided, goes out only while nothing but the processes of the epoch answers.
 * - A mark that is in the log within `PROMPT_MS` may be acknowledged: whoever restores Redis removes everything, after which
 *   nothing can be marked, and waits longer than that before it looks how far the log goes. What took longer is acknowledged if
 *   the epoch is still the same.
 *
 * The epoch is remembered; it is looked up again when a connection is another, a load was refused, or something took long.
 */

const PROMPT_MS = 300;
/** By the clock of another machine, which goes a little faster. */
export const MARKS_ARE_LOGGED_MS = PROMPT_MS + 100;

/** Since when something is under way, and in which epoch. */
export interface Since {
	readonly epoch: string;
	readonly ms: number;
}

/** What a script that loads has to be told: a marker on its node, and the value that it must have. */
export type Token = readonly [marker: string, epoch: string];
export const NO_TOKEN: Token = ['', ''];

export interface Fence {
	/** Micros since when Redis lost nothing. Refuses while it is not whole. */
	wholeSince(): Promise<number>;
	/** To be called before anything is read that is going to be relied on. */
	since(): Promise<Since>;
	/** Refuses where what was read, or changed, may not be what is true; told since when, also where it may be lost. */
	assured(since?: Since): Promise<void>;
	/** Refuses where it is another epoch by now. */
	still(since: Since): Promise<void>;
	/** Reads from the store, then writes what was read under these hash tags, if it is still the same epoch. */
	load<T>(
		tags: readonly string[],
		read: () => Promise<T>,
		write: (rows: T, tokenOf: (tag: string) => Token) => Promise<unknown>,
	): Promise<void>;
}

/** For whoever shares Redis with nobody and never loses it. */
export const NO_FENCE: Fence = {
	wholeSince: async () => 0,
	since: async () => ({ epoch: '', ms: 0 }),
	assured: async () => undefined,
	still: async () => undefined,
	load: async (_, read, write) => void (await write(await read(), () => NO_TOKEN)),
};

const isElsewhere = (error: unknown): boolean => error instanceof RedisUnavailable && error.isElsewhere;

export class EpochFence implements Fence {
	private known: Whole | null = null;
	private looking: Promise<Whole> | null = null;

	constructor(private readonly epoch: Epoch) {}

	wholeSince(): Promise<number> {
		return this.epoch.wholeSince();
	}

	async since(): Promise<Since> {
		const ms = performance.now();
		return { epoch: (await this.whole()).epoch, ms };
	}

	async assured(since?: Since): Promise<void> {
		if (since && performance.now() - since.ms > PROMPT_MS) await this.still(since);
		else await this.whole();
	}

	async still({ epoch }: Since): Promise<void> {
		if ((await this.look()).epoch !== epoch) throw beingRestored();
	}

	async load<T>(
		tags: readonly string[],
		read: () => Promise<T>,
		write: (rows: T, tokenOf: (tag: string) => Token) => Promise<unknown>,
	): Promise<void> {
		const areMarked = tags.every((tag) => this.epoch.markerBeside(tag) !== '');
		for (let isLast = false; ; isLast = true) {
			const since = await this.since();
			const rows = await read();
			// Where no marker is beside it, that is as close as it gets.
			if (!areMarked) await this.still(since);
			try {
				await write(rows, (tag) => [this.epoch.markerBeside(tag), since.epoch]);
				return;
			} catch (error) {
				const isOver = error instanceof EpochOver;
				if (!isOver && !isElsewhere(error)) throw error;
				// Looking also finds out where markers are by now.
				this.known = null;
				if (isLast) throw isOver ? beingRestored() : error;
			}
		}
	}

	private async whole(): Promise<Whole> {
		if (this.known && this.epoch.isServedBy(this.known)) return this.known;
		this.looking ??= this.look().finally(() => {
			this.looking = null;
		});
		return this.looking;
	}

	private async look(): Promise<Whole> {
		this.known = await this.epoch.check();
		if (!this.known) throw beingRestored();
		return this.known;
	}
}
