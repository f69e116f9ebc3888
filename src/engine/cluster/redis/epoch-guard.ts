import { SingleFlight } from '../../../model/single-flight.ts';
import { beingRebuilt, type Epochs, type NodeEpoch } from './epochs.ts';
import { EpochOver, isElsewhere } from './failure-cause.ts';
import { slotOf } from './slots.ts';

/**
 * Any Redis node can be lost at any moment. The guard makes sure that each load, mark and answer of this
 * process belongs to one epoch of each node that it concerns. The state of other nodes does not matter.
 *
 * - Redis has only recent changes; the store has all others. That is true only within an epoch. So every script that may find no change
 *   of a user or conversation gets the epoch that its caller knows, and Redis rejects the script in any other epoch.
 * - An answer or a decision is passed on only if, as far as this process knows, each node is still served by the Redis process of that
 *   epoch.
 * - A mark that reaches the log within `PROMPT_MS` may be acknowledged: the worker that rebuilds the user's node clears it first,
 *   which makes further marks impossible, and waits longer than `PROMPT_MS` before it reads the end of the log. A slower mark is
 *   acknowledged only if the epoch is still the same.
 *
 * Epochs are cached. An epoch is read again when the connection was replaced, a script was rejected, or an operation was slow.
 */

const PROMPT_MS = 300;
/** Allows for the clock of another machine, which may run a little faster. */
export const MARKS_ARE_LOGGED_MS = PROMPT_MS + 100;

/** The start of an operation: its time, its slots, and the epochs of their nodes. */
export interface GuardPoint {
	readonly ms: number;
	readonly slots: readonly number[];
	readonly epochs: readonly string[];
	/** The epoch of the node that has one of these slots, for a script. */
	readonly tokenOf: (slot: number) => EpochToken;
}

/** Arguments of a script: a marker on its node, and the marker's expected value. */
export type EpochToken = readonly [marker: string, value: string];

/** Whether a slot is on a certain node. */
export type IsOnNode = (slot: number) => boolean;

export interface Guard {
	/** The time (microseconds) since when no Redis node has lost data and no event was missed. Rejects while a node is not complete. */
	completeSince(): Promise<number>;
	/** Call it before reading anything under these hash tags that has to be reliable. */
	begin(tags: readonly string[]): Promise<GuardPoint>;
	/** As `begin`, for slots. */
	beginInSlots(slots: readonly number[]): Promise<GuardPoint>;
	/** Rejects if anything that was read or changed since `begin` may be outdated or lost. */
	verify(point: GuardPoint): Promise<void>;
	/** Rejects if the epoch of a node has changed; always asks Redis. */
	verifyEpochs(point: GuardPoint): Promise<void>;
	/** Runs work again, with the current epochs, if a script found that an epoch has ended or a slot is elsewhere. */
	retrying<T>(work: (isRetry: boolean) => Promise<T>): Promise<T>;
	/** Called when a node has a new epoch. */
	onNewEpoch(drop: (isOnNode: IsOnNode) => void): void;
}

interface CompleteNodes {
	/** By address. */
	readonly nodes: ReadonlyMap<string, NodeEpoch>;
	/** Of each slot. */
	readonly epochs: readonly string[];
}

/** Nodes may not know yet that a slot has moved. */
const MAX_TRIES = 5;
const MOVING_PAUSE_MS = 50;

export class EpochGuard implements Guard {
	/** Epochs by address. */
	private readonly known = new Map<string, NodeEpoch>();
	private readonly checks = new SingleFlight<string, void>();
	/** By address: the epoch that copies in this process may belong to. */
	private readonly last = new Map<string, string>();
	private readonly drops: ((isOnNode: IsOnNode) => void)[] = [];
	private rechecking: Promise<boolean> | null = null;

	constructor(private readonly epochs: Epochs) {}

	completeSince(): Promise<number> {
		return this.epochs.completeSince();
	}

	begin(tags: readonly string[]): Promise<GuardPoint> {
		return this.beginInSlots(tags.map(slotOf));
	}

	async beginInSlots(slots: readonly number[]): Promise<GuardPoint> {
		const ms = performance.now();
		const { nodes, epochs } = await this.requireComplete(slots);
		const tokenOf = (slot: number): EpochToken => {
			const node = nodes.get(this.epochs.nodeOf(slot));
			if (!node) throw new EpochOver(`slot ${slot} has moved to another node`);
			return [node.marker, node.value];
		};
		return { ms, slots, epochs, tokenOf };
	}

	async verify(point: GuardPoint): Promise<void> {
		if (performance.now() - point.ms > PROMPT_MS) await this.verifyEpochs(point);
		else await this.requireComplete(point.slots);
	}

	async verifyEpochs({ slots, epochs }: GuardPoint): Promise<void> {
		// A check in progress may have begun too early.
		await Promise.all(this.addressesOf(slots).map((address) => this.checkNow(address)));
		const now = await this.requireComplete(slots);
		if (now.epochs.some((epoch, index) => epoch !== epochs[index])) throw beingRebuilt();
	}

	async retrying<T>(work: (isRetry: boolean) => Promise<T>): Promise<T> {
		try {
			return await work(false);
		} catch (error) {
			if (!(error instanceof EpochOver) && !isElsewhere(error)) throw error;
			// The next check also finds where markers are now.
			this.known.clear();
			// Redis does not tell a script where a slot has moved. A failed refresh is ignored: the retry may succeed without it.
			if (isElsewhere(error)) await this.epochs.refreshSlots().catch(() => undefined);
		}
		try {
			return await work(true);
		} catch (error) {
			throw error instanceof EpochOver ? beingRebuilt() : error;
		}
	}

	onNewEpoch(drop: (isOnNode: IsOnNode) => void): void {
		this.drops.push(drop);
	}

	/** The epochs of the nodes of these slots. Asks Redis only if needed. */
	private async requireComplete(slots: readonly number[]): Promise<CompleteNodes> {
		for (let hasChecked = false; ; hasChecked = true) {
			if (!slots.every((slot) => this.epochs.isTrusted(slot))) await this.trust(slots);
			const nodes = new Map<string, NodeEpoch>();
			const unknown = new Set<string>();
			// A user may be in a thousand conversations, of which many are on one node.
			let [last, node]: [string | null, NodeEpoch | undefined] = [null, undefined];
			const epochs = slots.map((slot) => {
				const address = this.epochs.nodeOf(slot);
				if (address === last) return node?.epoch ?? '';
				last = address;
				node = nodes.get(address) ?? this.servedAt(address);
				if (node) nodes.set(address, node);
				else unknown.add(address);
				return node?.epoch ?? '';
			});
			if (unknown.size === 0) return { nodes, epochs };
			if (hasChecked) throw beingRebuilt();
			await Promise.all([...unknown].map((address) => this.check(address)));
		}
	}

	private servedAt(address: string): NodeEpoch | undefined {
		const known = this.known.get(address);
		return known && this.epochs.isServedBy(address, known) ? known : undefined;
	}

	/** Rejects if the node is lost. */
	private check(address: string): Promise<void> {
		return this.checks.run(address, () => this.checkNow(address));
	}

	private async checkNow(address: string): Promise<void> {
		const node = await this.epochs.check(address);
		this.update(address, node);
		if (!node) throw beingRebuilt();
	}

	/** Slots that moved to other nodes are trusted there once all nodes are complete. */
	private async trust(slots: readonly number[]): Promise<void> {
		for (let tries = 1; ; tries += 1) {
			this.rechecking ??= this.recheckNow().finally(() => {
				this.rechecking = null;
			});
			const areComplete = await this.rechecking;
			if (slots.every((slot) => this.epochs.isTrusted(slot))) return;
			if (!areComplete || tries === MAX_TRIES) throw beingRebuilt();
			await Bun.sleep(MOVING_PAUSE_MS);
		}
	}

	private async recheckNow(): Promise<boolean> {
		const found = await this.epochs.recheck();
		for (const [address, node] of found) this.update(address, node instanceof Error ? null : node);
		return [...found.values()].every((node) => node !== null && !(node instanceof Error));
	}

	private update(address: string, node: NodeEpoch | null): void {
		if (!node) {
			this.known.delete(address);
			return;
		}
		this.known.set(address, node);
		if (this.last.get(address) === node.epoch) return;
		this.last.set(address, node.epoch);
		for (const drop of this.drops) drop((slot) => this.epochs.nodeOf(slot) === address);
	}

	private addressesOf(slots: readonly number[]): string[] {
		return [...new Set(slots.map((slot) => this.epochs.nodeOf(slot)))];
	}
}
