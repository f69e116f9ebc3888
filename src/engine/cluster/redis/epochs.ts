import { Rejection } from '../../../model/errors.ts';
import { OVERLAP_MICROS } from '../../../model/position.ts';
import type { Commands } from './connection.ts';
import { isReadState } from './keys.ts';
import { lowestOf, markerIn, packedMarker, SPREAD_SLOTS, tagIn } from './markers.ts';
import { RedisProcesses } from './processes.ts';
import { type Assignment, SlotMap } from './slot-map.ts';
import { slotOf } from './slots.ts';

/**
 * Detects Redis nodes that were emptied, or that restarted with old data. Such a node may lack effects that the store does not
 * have yet, so nothing may be read or changed there until the workers have brought the store up to date. Other nodes continue.
 *
 * Each node has an epoch: markers with its start time and the id of the node's process at that time. A node is complete if it has the
 * markers of all its spread slots (markers.ts), and one of its markers names its current process. Otherwise it is lost until a worker
 * clears it and, once all marks are persisted, begins a new epoch there.
 *
 * A slot of a lost node may be moved to another node, which would seem complete. So a gateway or worker
 * trusts a slot on the node that had it when all nodes were last complete (`trusted`), and on another node
 * only once all nodes are complete again.
 *
 * Scripts of the read state check a marker on the same node (epoch-guard.ts): once that marker is removed, no change that was decided earlier
 * can take effect, however long it was in flight.
 */

/** Older positions cannot be resumed in any case. */
const INVALID_BEFORE_SECONDS = 2 * 86_400;
/** Markers may move to another node while they are read. */
const MAX_TRIES = 5;
/** Bounds how long the script blocks Redis. */
const MARKERS_PER_CALL = 1_000;

/** The epoch of a complete node. */
export interface NodeEpoch {
	/** Changes whenever the node was lost, and may change when it gets slots. */
	readonly epoch: string;
	readonly process: string;
	/** A marker on the node, and its value. */
	readonly marker: string;
	readonly value: string;
}

/** By address: the epoch of a node, null if it is lost, an error if it does not answer. */
export type NodeStates = ReadonlyMap<string, NodeEpoch | Error | null>;

/** Nodes without read state, where nothing can be read or changed; and the assignment of slots at that time. */
interface Cleared {
	readonly nodes: readonly { readonly address: string; readonly process: string }[];
	readonly slots: Assignment;
}

export class Epochs {
	private readonly invalidBeforeKey: string;
	private readonly processes: RedisProcesses;
	private readonly slots: SlotMap;
	/** The assignment of slots when all nodes were last complete; null: never. */
	private trusted: Assignment | null = null;
	/** The assignment that markers were last updated for. */
	private tidied: Assignment | null = null;
	private cleared: Cleared | null = null;

	constructor(
		private readonly commands: Commands,
		private readonly prefix: string,
	) {
		this.invalidBeforeKey = `${prefix}{epoch}:void`;
		this.processes = new RedisProcesses(commands);
		this.slots = new SlotMap(commands);
	}

	/** The time (microseconds) since when no Redis node has lost data and no event was missed. Rejects while a node is not complete. */
	async completeSince(): Promise<number> {
		const [found, invalidBefore] = await Promise.all([
			this.checkAll(),
			this.commands.get(this.invalidBeforeKey),
		]);
		const epochs = [...found.values()].map((node) => {
			if (node instanceof Error) throw node;
			if (!node) throw beingRebuilt();
			return Number(node.epoch);
		});
		return Math.max(...epochs, Number(invalidBefore ?? 0));
	}

	/**
	 * Invalidates positions of clients before this time, because a change was never published and clients may have moved past it.
	 * Allows for clocks of other processes that are ahead.
	 */
	async invalidateBefore(micros: number): Promise<void> {
		await this.commands.set(
			this.invalidBeforeKey,
			String(micros + OVERLAP_MICROS),
			'EX',
			INVALID_BEFORE_SECONDS,
		);
	}

	nodeOf(slot: number): string {
		return this.slots.nodeOf(slot);
	}

	/** Checks all nodes. */
	async checkAll(): Promise<NodeStates> {
		const slots = this.slots.assignment;
		const found = new Map(
			await Promise.all(
				this.slots
					.nodes()
					.map(
						async (address): Promise<[string, NodeEpoch | Error | null]> => [
							address,
							await this.check(address).catch((error) => error as Error),
						],
					),
			),
		);
		const areComplete = [...found.values()].every((node) => node !== null && !(node instanceof Error));
		// If slots moved in the meantime, it is unknown whether a node was checked before or after.
		if (areComplete && this.slots.assignment === slots) this.trusted = slots;
		return found;
	}

	/** Resolves when every node of Redis has answered. */
	pingAll(): Promise<void> {
		return this.processes.pingAll();
	}

	/** Null if the node is lost. */
	async check(address: string): Promise<NodeEpoch | null> {
		for (let tries = 1; ; tries += 1) {
			const { assignment } = this.slots;
			const process = await this.processes.idAt(address);
			const slots = this.spreadAt(address);
			const values = await this.valuesIn(slots);
			if (this.slots.assignment !== assignment && tries < MAX_TRIES) continue;
			const present = values.filter((value) => value !== null);
			if (present.length < values.length) return null;
			const own = this.ownOf(process, slots, values) ?? (await this.lowestAt(address, process));
			if (!own) return null;
			const newest = Math.max(...[...present, own.value].map((value) => markerIn(value).micros));
			return { epoch: String(newest), process, ...own };
		}
	}

	/** Whether, as far as this process knows, the address is still served by the process of this epoch. Sends no request. */
	isServedBy(address: string, { process }: NodeEpoch): boolean {
		return this.processes.isAt(address, process);
	}

	/** Whether the slot is where it was when all nodes were last complete. */
	isTrusted(slot: number): boolean {
		return this.trusted !== null && this.trusted[slot] === this.slots.nodeOf(slot);
	}

	/** Finds out which node has each slot now. */
	refreshSlots(): Promise<void> {
		return this.slots.refresh();
	}

	/** Refreshes the assignment of slots and checks all nodes. */
	async recheck(): Promise<NodeStates> {
		await this.slots.refresh();
		return this.checkAll();
	}

	/**
	 * Lost nodes, and nodes that may have received slots of a lost one. Rejects if the list may be incomplete: a node does not
	 * answer, and either no node is known to be lost, or the silent node may have received slots of a lost one.
	 */
	async lost(): Promise<string[]> {
		const isLost = (found: NodeStates) => [...found.values()].includes(null);
		let found = await this.checkAll();
		if (isLost(found)) found = await this.recheck();
		const [unanswered] = [...found.values()].filter((node) => node instanceof Error);
		if (!isLost(found)) {
			if (unanswered) throw unanswered;
			return [];
		}
		const { assignment } = this.slots;
		const uncertain = new Set(assignment.filter((address, slot) => this.trusted?.[slot] !== address));
		return [...found].flatMap(([address, node]) => {
			if (node instanceof Error && uncertain.has(address)) throw node;
			return node === null || uncertain.has(address) ? [address] : [];
		});
	}

	areAllNodes(addresses: readonly string[]): boolean {
		return this.slots.nodes().every((address) => addresses.includes(address));
	}

	/**
	 * Ends the epochs of these nodes and removes their read state. Removes the markers first: without them scripts reject, so none takes
	 * removed state for unchanged state.
	 */
	async clear(addresses: readonly string[] = this.slots.nodes()): Promise<Cleared> {
		const slots = this.slots.assignment;
		const nodes: { address: string; process: string }[] = [];
		// Before clearing: a process that takes a node's place later was not cleared, and must not get this epoch.
		for (const address of addresses) nodes.push({ address, process: await this.processes.idAt(address) });
		await this.end(addresses);
		await Promise.all(addresses.map((address) => this.removeReadState(address)));
		this.cleared = { nodes, slots };
		return this.cleared;
	}

	/**
	 * Begins epochs on the cleared nodes; without a clear, it clears all nodes first. Call it only if the store has
	 * every change that was made before the nodes were cleared.
	 */
	async begin(nowMicros: () => number): Promise<void> {
		const { nodes, slots } = this.cleared ?? (await this.clear());
		this.cleared = null;
		await this.slots.refresh();
		if (this.slots.assignment !== slots)
			throw new Error('Redis slots moved to other nodes during recovery; retrying');
		const epochs = [...(await this.checkAll()).values()].map((node) =>
			node && !(node instanceof Error) ? Number(node.epoch) : 0,
		);
		// Later than all other epochs, whatever the clocks of the processes that began them.
		const micros = Math.max(nowMicros(), ...epochs.map((epoch) => epoch + 1));
		await Promise.all(
			nodes.flatMap(({ address, process }) =>
				this.markedAt(address).map((slot) =>
					this.commands.set(this.markerKey(slot), packedMarker(micros, process)),
				),
			),
		);
	}

	/** Makes all nodes lost. */
	async endAll(): Promise<void> {
		await this.slots.refresh();
		await this.end(this.slots.nodes());
	}

	private async end(addresses: readonly string[]): Promise<void> {
		for (const address of addresses) {
			// Any slot may have a marker: the lowest slots of a node change while it gets slots.
			const slots = this.slots.canMove ? this.slots.slotsOf(address) : this.markedAt(address);
			const markers = slots.map((slot) => this.markerKey(slot));
			for (let from = 0; from < markers.length; from += MARKERS_PER_CALL)
				await this.commands.endEpoch(...markers.slice(from, from + MARKERS_PER_CALL));
		}
	}

	/**
	 * Call it when all nodes are complete. Markers that moved to other nodes are updated to name the process they are at now.
	 * Otherwise, if a slot moved from A to B with a marker that names A's process, and an emptied A gets the slot back, A would seem
	 * complete. Also adds missing markers in the lowest slots of each node.
	 */
	async tidy(): Promise<void> {
		const { assignment } = this.slots;
		if (this.tidied === assignment) return;
		for (const address of this.slots.nodes()) {
			const node = await this.check(address);
			if (!node) return;
			const slots = this.markedAt(address);
			for (const [index, value] of (await this.valuesIn(slots)).entries()) {
				const slot = slots[index] as number;
				// A missing marker in these slots means that the node is lost.
				if (value === null && SPREAD_SLOTS.includes(slot)) continue;
				if (value !== null && markerIn(value).process === node.process) continue;
				const micros = value === null ? Number(node.epoch) : markerIn(value).micros;
				const key = this.markerKey(slot);
				const named = packedMarker(micros, node.process);
				await this.commands.nameMarker(key, node.marker, node.value, value ?? '', named);
			}
		}
		this.tidied = assignment;
	}

	/** A marker on the node of this tag; '' if the node is lost. */
	async markerBeside(tag: string): Promise<string> {
		return (await this.check(this.nodeOf(slotOf(tag))))?.marker ?? '';
	}

	private markerKey(slot: number): string {
		return `${this.prefix}{${tagIn(slot)}}:epoch3`;
	}

	private valuesIn(slots: readonly number[]): Promise<(string | null)[]> {
		return Promise.all(slots.map((slot) => this.commands.get(this.markerKey(slot))));
	}

	private spreadAt(address: string): number[] {
		return SPREAD_SLOTS.filter((slot) => this.slots.assignment[slot] === address);
	}

	/** Slots where a node should have markers. */
	private markedAt(address: string): number[] {
		return [...new Set([...this.spreadAt(address), ...lowestOf(this.slots.slotsOf(address))])];
	}

	private ownOf(process: string, slots: readonly number[], values: readonly (string | null)[]) {
		const index = values.findIndex((value) => value !== null && markerIn(value).process === process);
		const value = values[index];
		return value == null ? null : { marker: this.markerKey(slots[index] as number), value };
	}

	/** For a node that has none of the spread markers, or only ones that were another node's. */
	private async lowestAt(address: string, process: string) {
		const slots = lowestOf(this.slots.slotsOf(address));
		return this.ownOf(process, slots, await this.valuesIn(slots));
	}

	private async removeReadState(address: string): Promise<void> {
		const node = this.processes.nodeAt(address);
		let cursor = '0';
		do {
			const [next, keys] = await node.scan(cursor, 'MATCH', `${this.prefix}*`, 'COUNT', 1_000);
			await Promise.all(keys.filter(isReadState).map((key) => this.commands.unlink(key)));
			cursor = next;
		} while (cursor !== '0');
	}
}

export const beingRebuilt = (): Rejection =>
	new Rejection('service_unavailable', 'the read state is being rebuilt');
