import type { Commands } from './connection.ts';
import { translated } from './failure-cause.ts';
import { SLOTS } from './slots.ts';

/**
 * The nodes of slots. `nodeOf` is where commands go now; `assignment` is what a node of the cluster reported last, as a whole. They
 * differ while slots move. A single Redis is one node that has all slots.
 */

/** The address of the node of each slot. */
export type Assignment = readonly string[];

const ONE: Assignment = Array.from({ length: SLOTS }, () => '');

export class SlotMap {
	private last: Assignment = ONE;
	private addresses: readonly string[] = [''];

	constructor(private readonly commands: Commands) {
		if (!('slots' in commands)) return;
		this.read();
		commands.on('refresh', () => this.read());
	}

	/** Whether slots can move to other nodes: not with one Redis. */
	get canMove(): boolean {
		return 'slots' in this.commands;
	}

	/** The same object while the assignment does not change. */
	get assignment(): Assignment {
		return this.last;
	}

	nodeOf(slot: number): string {
		const { commands } = this;
		return 'slots' in commands ? (commands.slots[slot]?.[0] ?? '') : '';
	}

	/** Addresses of the nodes that have slots. */
	nodes(): readonly string[] {
		return this.addresses;
	}

	slotsOf(address: string): number[] {
		return this.last.flatMap((node, slot) => (node === address ? [slot] : []));
	}

	/** Asks the cluster for the current assignment. */
	async refresh(): Promise<void> {
		const { commands } = this;
		if (!('refreshSlotsCache' in commands)) return;
		await new Promise<void>((resolve, reject) =>
			commands.refreshSlotsCache((error) => (error ? reject(translated(error)) : resolve())),
		);
	}

	private read(): void {
		const now = Array.from({ length: SLOTS }, (_, slot) => this.nodeOf(slot));
		if (now.every((node, slot) => node === this.last[slot])) return;
		this.last = now;
		this.addresses = [...new Set(now)];
	}
}
