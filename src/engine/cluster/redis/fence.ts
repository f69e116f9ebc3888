import { beingRestored, type Epoch, type NodeEpoch } from './epoch.ts';
import { EpochOver, RedisUnavailable } from './failure-cause.ts';
import { slotOf } from './slots.ts';

/**
 * What a process may rely on while any node of Redis can be lost at any moment: loads, marks and answers are those of one epoch of
 * each node that they concern. The state of other nodes does not matter.
 *
 * - A load names the epoch that it was read in to the script that writes. Redis refuses it in any other.
 * - An answer, and what was decided, goes out only while nothing but the processes of these epochs answers from these nodes.
 * - A mark that is in the log within `PROMPT_MS` may be acknowledged: the worker that restores the user's node removes everything there, after
 *   which nothing can be marked, and waits longer than that before it looks how far the log goes. What took longer is acknowledged if
 *   the epoch is still the same.
 *
 * Epochs are remembered; one is looked up again when the connection is another, a load was refused, or something took long.
 */

const PROMPT_MS = 300;
/** By the clock of another machine, which goes a little faster. */
export const MARKS_ARE_LOGGED_MS = PROMPT_MS + 100;

/** Since when something is under way, in which slots, and in which epochs of their nodes. */
export interface Since {
	readonly ms: number;
	readonly slots: readonly number[];
	readonly epochs: readonly string[];
}

/** Arguments of a script that loads: a marker on its node, and the value that it must have. */
export type Token = readonly [marker: string, value: string];
export const NO_TOKEN: Token = ['', ''];

/** Whether a slot is on one certain node. */
export type IsThere = (slot: number) => boolean;

export interface Fence {
	/** Micros since when Redis lost nothing, on any node. Refuses while it is not whole. */
	completeSince(): Promise<number>;
	/** To be called before anything under these hash tags is read that is going to be relied on. */
	since(tags: readonly string[]): Promise<Since>;
	/** The same for slots. */
	sinceIn(slots: readonly number[]): Promise<Since>;
	/** Refuses where what was read, or changed, may not be what is true, or may be lost. */
	assured(since: Since): Promise<void>;
	/** Refuses where it is another epoch by now. */
	still(since: Since): Promise<void>;
	/** Reads from the store, then writes what was read under these hash tags, if it is still the same epoch. */
	load<T>(
		tags: readonly string[],
		read: () => Promise<T>,
		write: (rows: T, tokenOf: (tag: string) => Token) => Promise<unknown>,
	): Promise<void>;
	/** Called when a node is found to be in another epoch than before. */
	onAnother(drop: (isThere: IsThere) => void): void;
}

const ALWAYS: Since = { ms: Number.POSITIVE_INFINITY, slots: [], epochs: [] };

/** For a process that shares Redis with no other and never loses it. */
export const NO_FENCE: Fence = {
	completeSince: async () => 0,
	since: async () => ALWAYS,
	sinceIn: async () => ALWAYS,
	assured: async () => undefined,
	still: async () => undefined,
	load: async (_, read, write) => void (await write(await read(), () => NO_TOKEN)),
	onAnother: () => undefined,
};

const isElsewhere = (error: unknown): boolean => error instanceof RedisUnavailable && error.isElsewhere;
/** Nodes may not all know yet that a slot has moved. */
const MOST_TRIES = 5;
const NOT_SETTLED_MS = 50;

export class EpochFence implements Fence {
	/** By address. */
	private readonly known = new Map<string, NodeEpoch>();
	private readonly looking = new Map<string, Promise<unknown>>();
	/** By address: the epoch that copies in this process may be of. */
	private readonly last = new Map<string, string>();
	private readonly drops: ((isThere: IsThere) => void)[] = [];
	private settling: Promise<boolean> | null = null;

	constructor(private readonly epoch: Epoch) {}

	completeSince(): Promise<number> {
		return this.epoch.completeSince();
	}

	since(tags: readonly string[]): Promise<Since> {
		return this.sinceIn(tags.map(slotOf));
	}

	async sinceIn(slots: readonly number[]): Promise<Since> {
		const ms = performance.now();
		return { ms, slots, epochs: epochsOf(await this.requireComplete(slots)) };
	}

	async assured(since: Since): Promise<void> {
		if (performance.now() - since.ms > PROMPT_MS) await this.still(since);
		else await this.requireComplete(since.slots);
	}

	async still({ slots, epochs }: Since): Promise<void> {
		// A look that is under way may have begun too early.
		await Promise.all(this.addressesOf(slots).map((address) => this.lookNow(address)));
		const now = epochsOf(await this.requireComplete(slots));
		if (now.some((epoch, index) => epoch !== epochs[index])) throw beingRestored();
	}

	async load<T>(
		tags: readonly string[],
		read: () => Promise<T>,
		write: (rows: T, tokenOf: (tag: string) => Token) => Promise<unknown>,
	): Promise<void> {
		const slots = tags.map(slotOf);
		for (let isLast = false; ; isLast = true) {
			const nodes = await this.requireComplete(slots);
			const tokens = new Map(
				tags.map((tag, index): [string, Token] => {
					const { marker, value } = nodes[index] as NodeEpoch;
					return [tag, [marker, value]];
				}),
			);
			const rows = await read();
			try {
				await write(rows, (tag) => tokens.get(tag) as Token);
				return;
			} catch (error) {
				const isOver = error instanceof EpochOver;
				if (!isOver && !isElsewhere(error)) throw error;
				// Looking also finds out where markers are by now.
				this.forget(slots);
				if (isLast) throw isOver ? beingRestored() : error;
			}
		}
	}

	onAnother(drop: (isThere: IsThere) => void): void {
		this.drops.push(drop);
	}

	/** The epochs of the nodes that have these slots. Asks Redis only where it has to. */
	private async requireComplete(slots: readonly number[]): Promise<NodeEpoch[]> {
		for (let hasChecked = false; ; hasChecked = true) {
			if (!slots.every((slot) => this.epoch.isSettled(slot))) await this.settle(slots);
			const nodes = new Map<string, NodeEpoch | undefined>();
			const found = slots.map((slot) => {
				const address = this.epoch.nodeOf(slot);
				if (!nodes.has(address)) nodes.set(address, this.servedAt(address));
				return nodes.get(address);
			});
			const unknown = [...nodes.keys()].filter((address) => !nodes.get(address));
			if (unknown.length === 0) return found as NodeEpoch[];
			if (hasChecked) throw beingRestored();
			await Promise.all(unknown.map((address) => this.look(address)));
		}
	}

	private servedAt(address: string): NodeEpoch | undefined {
		const known = this.known.get(address);
		return known && this.epoch.isServedBy(address, known) ? known : undefined;
	}

	/** Refuses where the node is lost. */
	private look(address: string): Promise<unknown> {
		const underWay = this.looking.get(address);
		if (underWay) return underWay;
		const looking = this.lookNow(address).finally(() => this.looking.delete(address));
		this.looking.set(address, looking);
		return looking;
	}

	private async lookNow(address: string): Promise<void> {
		const node = await this.epoch.lookAt(address);
		this.take(address, node);
		if (!node) throw beingRestored();
	}

	/** Slots that were given to other nodes are believed there once all nodes are whole. */
	private async settle(slots: readonly number[]): Promise<void> {
		for (let tries = 1; ; tries += 1) {
			this.settling ??= this.settleNow().finally(() => {
				this.settling = null;
			});
			const areComplete = await this.settling;
			if (slots.every((slot) => this.epoch.isSettled(slot))) return;
			if (!areComplete || tries === MOST_TRIES) throw beingRestored();
			await Bun.sleep(NOT_SETTLED_MS);
		}
	}

	private async settleNow(): Promise<boolean> {
		const found = await this.epoch.settle();
		for (const [address, node] of found) this.take(address, node instanceof Error ? null : node);
		return [...found.values()].every((node) => node !== null && !(node instanceof Error));
	}

	private take(address: string, node: NodeEpoch | null): void {
		if (!node) {
			this.known.delete(address);
			return;
		}
		this.known.set(address, node);
		if (this.last.get(address) === node.epoch) return;
		this.last.set(address, node.epoch);
		for (const drop of this.drops) drop((slot) => this.epoch.nodeOf(slot) === address);
	}

	private forget(slots: readonly number[]): void {
		for (const address of this.addressesOf(slots)) this.known.delete(address);
	}

	private addressesOf(slots: readonly number[]): string[] {
		return [...new Set(slots.map((slot) => this.epoch.nodeOf(slot)))];
	}
}

const epochsOf = (nodes: readonly NodeEpoch[]): string[] => nodes.map(({ epoch }) => epoch);
