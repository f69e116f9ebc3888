import { Refusal } from '../../../model/errors.ts';
import type { Commands } from './connection.ts';
import { isLoadedState, isReadState } from './keys.ts';
import { lowestOf, markerIn, packedMarker, SPREAD_SLOTS, tagIn } from './markers.ts';
import { Processes } from './processes.ts';
import { type Assignment, SlotMap } from './slot-map.ts';
import { slotOf } from './slots.ts';

/**
 * Finds nodes of Redis that were emptied, or hold what they had some time ago. Such a node may lack effects that the store does not
 * have yet, and nothing may be loaded there until the workers have brought the store up to date. The other nodes go on.
 *
 * Each node has an epoch: markers with the time of its beginning and the process that the node was then. A node is whole if no
 * marker is missing in its slots and one of them names its process. Otherwise it is lost until a worker clears it and, its
 * topics drained, begins another epoch there.
 *
 * A slot may be given to another node after its own was lost: it would be believed there. So a process trusts a slot where it was when
 * all nodes were whole last (`settled`), and elsewhere only when all nodes are whole again.
 *
 * Whoever loads from the store names a marker on the same node, and the script that writes compares it (fence.ts): once that marker is
 * gone, nothing that was read before can arrive any more, however long it was on its way.
 */

/** As OVERLAP_MICROS of the engine. */
const CLOCKS_DIFFER_MICROS = 5_000_000;
/** Older positions are not resumed from in any case. */
const VOID_SECONDS = 2 * 86_400;
/** Markers may go to another node while they are read. */
const MOST_TRIES = 5;
/** Redis does nothing else meanwhile. */
const ENDED_AT_ONCE = 1_000;

/** The epoch of a node that is whole. */
export interface NodeEpoch {
	/** Another one whenever the node was lost; also where it was given slots. */
	readonly epoch: string;
	readonly process: string;
	/** A marker on the node, and its value. */
	readonly marker: string;
	readonly value: string;
}

/** By address: the epoch of a node, null where it is lost, an error where it does not answer. */
export type Found = ReadonlyMap<string, NodeEpoch | Error | null>;

/** Nodes without read state, where nothing can be loaded; and where slots were then. */
interface Cleared {
	readonly nodes: readonly { readonly address: string; readonly process: string }[];
	readonly slots: Assignment;
}

export class Epoch {
	private readonly voidKey: string;
	private readonly processes: Processes;
	private readonly slots: SlotMap;
	/** Which node had which slot when all nodes were whole last; null: that was never so. */
	private settled: Assignment | null = null;
	/** The assignment that markers were named for last. */
	private tidied: Assignment | null = null;
	private cleared: Cleared | null = null;

	constructor(
		private readonly commands: Commands,
		private readonly prefix: string,
	) {
		this.voidKey = `${prefix}{epoch}:void`;
		this.processes = new Processes(commands);
		this.slots = new SlotMap(commands);
	}

	/** Micros since when Redis lost nothing, on any node. Refuses while a node is not whole. */
	async completeSince(): Promise<number> {
		const [found, voided] = await Promise.all([this.look(), this.commands.get(this.voidKey)]);
		const epochs = [...found.values()].map((node) => {
			if (node instanceof Error) throw node;
			if (!node) throw beingRestored();
			return Number(node.epoch);
		});
		return Math.max(...epochs, Number(voided ?? 0));
	}

	/**
	 * Something from before this moment was never published, and clients may have passed it by: their positions are void. Clocks
	 * of the processes that gave them may be ahead.
	 */
	async voidBefore(micros: number): Promise<void> {
		await this.commands.set(this.voidKey, String(micros + CLOCKS_DIFFER_MICROS), 'EX', VOID_SECONDS);
	}

	nodeOf(slot: number): string {
		return this.slots.nodeOf(slot);
	}

	/** All nodes. */
	async look(): Promise<Found> {
		const slots = this.slots.assignment;
		const found = new Map(
			await Promise.all(
				this.slots
					.nodes()
					.map(
						async (address): Promise<[string, NodeEpoch | Error | null]> => [
							address,
							await this.lookAt(address).catch((error) => error as Error),
						],
					),
			),
		);
		const areComplete = [...found.values()].every((node) => node !== null && !(node instanceof Error));
		// If slots moved meanwhile, it is unknown whether that was before a node was checked.
		if (areComplete && this.slots.assignment === slots) this.settled = slots;
		return found;
	}

	/** Resolves when every node of Redis has answered. */
	reached(): Promise<void> {
		return this.processes.answer();
	}

	/** Null where the node is lost. */
	async lookAt(address: string): Promise<NodeEpoch | null> {
		for (let tries = 1; ; tries += 1) {
			const { assignment } = this.slots;
			const process = await this.processes.idAt(address);
			const slots = this.spreadAt(address);
			const values = await this.valuesIn(slots);
			if (this.slots.assignment !== assignment && tries < MOST_TRIES) continue;
			const present = values.filter((value) => value !== null);
			if (present.length < values.length) return null;
			const own = this.ownOf(process, slots, values) ?? (await this.lowestAt(address, process));
			if (!own) return null;
			const newest = Math.max(...[...present, own.value].map((value) => markerIn(value).micros));
			return { epoch: String(newest), process, ...own };
		}
	}

	/** Without asking: nothing but the process of this epoch has answered from there lately. */
	isServedBy(address: string, { process }: NodeEpoch): boolean {
		return this.processes.isAt(address, process);
	}

	/** Whether the slot is where it was when all nodes were whole last. */
	isSettled(slot: number): boolean {
		return this.settled !== null && this.settled[slot] === this.slots.nodeOf(slot);
	}

	/** Asks where slots are, and looks at all nodes. */
	async settle(): Promise<Found> {
		await this.slots.refresh();
		return this.look();
	}

	/** Refuses where the node of one of these hash tags is not whole, or where it cannot be known. */
	async assure(tags: readonly string[]): Promise<void> {
		const slots = tags.map(slotOf);
		if (!slots.every((slot) => this.isSettled(slot))) await this.settle();
		if (!slots.every((slot) => this.isSettled(slot))) throw beingRestored();
		const nodes = new Set(slots.map((slot) => this.nodeOf(slot)));
		for (const node of await Promise.all([...nodes].map((address) => this.lookAt(address))))
			if (!node) throw beingRestored();
	}

	/**
	 * Nodes that are lost; also those which may have been given slots of a lost one. Fails where a node does not answer and that is all
	 * there is to say, or that may have been given such slots.
	 */
	async lost(): Promise<string[]> {
		const isLost = (found: Found) => [...found.values()].includes(null);
		let found = await this.look();
		if (isLost(found)) found = await this.settle();
		const [unanswered] = [...found.values()].filter((node) => node instanceof Error);
		if (!isLost(found)) {
			if (unanswered) throw unanswered;
			return [];
		}
		const { assignment } = this.slots;
		const uncertain = new Set(assignment.filter((address, slot) => this.settled?.[slot] !== address));
		return [...found].flatMap(([address, node]) => {
			if (node instanceof Error && uncertain.has(address)) throw node;
			return node === null || uncertain.has(address) ? [address] : [];
		});
	}

	/**
	 * Ends the epochs of these nodes and removes what can be loaded again. First the markers, so that nothing comes after; then what says
	 * that something is loaded, because a conversation without its entries would seem to be read.
	 */
	async clear(addresses: readonly string[] = this.slots.nodes()): Promise<Cleared> {
		const slots = this.slots.assignment;
		const nodes: { address: string; process: string }[] = [];
		// A process that takes its place after this is not the one that is cleared.
		for (const address of addresses) nodes.push({ address, process: await this.processes.idAt(address) });
		await this.end(addresses);
		for (const isToGo of [isLoadedState, isReadState])
			await Promise.all(addresses.map((address) => this.remove(address, isToGo)));
		this.cleared = { nodes, slots };
		return this.cleared;
	}

	/** Begins epochs on the nodes that were cleared, which are all nodes where none was. Only for a worker that knows that the store has everything since. */
	async begin(nowMicros: () => number): Promise<void> {
		const { nodes, slots } = this.cleared ?? (await this.clear());
		this.cleared = null;
		await this.slots.refresh();
		if (this.slots.assignment !== slots) throw new Error('slots of Redis moved to other nodes meanwhile');
		const epochs = [...(await this.look()).values()].map((node) =>
			node && !(node instanceof Error) ? Number(node.epoch) : 0,
		);
		// Later than all others, whatever the clocks of those who began them say.
		const micros = Math.max(nowMicros(), ...epochs.map((epoch) => epoch + 1));
		await Promise.all(
			nodes.flatMap(({ address, process }) =>
				this.markedAt(address).map((slot) =>
					this.commands.set(this.markerIn(slot), packedMarker(micros, process)),
				),
			),
		);
	}

	/** All nodes are lost from now on. */
	async endAll(): Promise<void> {
		await this.slots.refresh();
		await this.end(this.slots.nodes());
	}

	private async end(addresses: readonly string[]): Promise<void> {
		for (const address of addresses) {
			// Any slot may have one: a node that is being given slots has had others as its lowest ones.
			const markers = this.slots.slotsOf(address).map((slot) => this.markerIn(slot));
			for (let from = 0; from < markers.length; from += ENDED_AT_ONCE)
				await this.commands.endEpoch(...markers.slice(from, from + ENDED_AT_ONCE));
		}
	}

	/**
	 * For when all nodes are whole: markers that were given to other nodes come to name the process that they are at, or a node could later be
	 * taken for one that it was before; and the lowest slots of each node get markers.
	 */
	async tidy(): Promise<void> {
		const { assignment } = this.slots;
		if (this.tidied === assignment) return;
		for (const address of this.slots.nodes()) {
			const node = await this.lookAt(address);
			if (!node) return;
			const slots = this.markedAt(address);
			for (const [index, value] of (await this.valuesIn(slots)).entries()) {
				const slot = slots[index] as number;
				// Where one is missing that was there, the node is lost.
				if (value === null && SPREAD_SLOTS.includes(slot)) continue;
				if (value !== null && markerIn(value).process === node.process) continue;
				const micros = value === null ? Number(node.epoch) : markerIn(value).micros;
				const key = this.markerIn(slot);
				const named = packedMarker(micros, node.process);
				await this.commands.nameMarker(key, node.marker, node.value, value ?? '', named);
			}
		}
		this.tidied = assignment;
	}

	/** A marker on the node that has the keys of this tag; '' where it is lost. */
	async markerBeside(tag: string): Promise<string> {
		return (await this.lookAt(this.nodeOf(slotOf(tag))))?.marker ?? '';
	}

	private markerIn(slot: number): string {
		return `${this.prefix}{${tagIn(slot)}}:epoch`;
	}

	private valuesIn(slots: readonly number[]): Promise<(string | null)[]> {
		return Promise.all(slots.map((slot) => this.commands.get(this.markerIn(slot))));
	}

	private spreadAt(address: string): number[] {
		return SPREAD_SLOTS.filter((slot) => this.slots.assignment[slot] === address);
	}

	/** Slots of the markers that a node is given. */
	private markedAt(address: string): number[] {
		return [...new Set([...this.spreadAt(address), ...lowestOf(this.slots.slotsOf(address))])];
	}

	private ownOf(process: string, slots: readonly number[], values: readonly (string | null)[]) {
		const index = values.findIndex((value) => value !== null && markerIn(value).process === process);
		const value = values[index];
		return value == null ? null : { marker: this.markerIn(slots[index] as number), value };
	}

	/** For a node that has none of the slots that markers are spread over, or only such as were another's. */
	private async lowestAt(address: string, process: string) {
		const slots = lowestOf(this.slots.slotsOf(address));
		return this.ownOf(process, slots, await this.valuesIn(slots));
	}

	private async remove(address: string, isToGo: (key: string) => boolean): Promise<void> {
		const node = this.processes.nodeAt(address);
		let cursor = '0';
		do {
			const [next, keys] = await node.scan(cursor, 'MATCH', `${this.prefix}*`, 'COUNT', 1_000);
			await Promise.all(keys.filter(isToGo).map((key) => this.commands.unlink(key)));
			cursor = next;
		} while (cursor !== '0');
	}
}

export const beingRestored = (): Refusal =>
	new Refusal('service_unavailable', 'read state is being restored');
