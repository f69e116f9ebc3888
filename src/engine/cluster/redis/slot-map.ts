import type { Commands } from './connection.ts';
import { translated } from './failure-cause.ts';
import { SLOTS } from './slots.ts';

/**
 * Which node has which slot. `nodeOf` is where commands go now; `told` is what a node of the cluster said last, as a whole. The two
 * differ while slots move. With one Redis there is one node, which has everything.
 */

/** By slot: the address of the node that has it. */
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

	/** The same object as long as it is the same assignment. */
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

	/** Asks the cluster. */
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
