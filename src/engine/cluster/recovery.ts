import type { SessionLock } from './postgres/session-lock.ts';
import type { Epoch } from './redis/epoch.ts';
import { MARKS_ARE_LOGGED_MS } from './redis/fence.ts';

/**
 * Restores the read state of nodes of Redis that were lost. Run by every worker, and carried out by one of them.
 *
 *     whole       every node is in its epoch; the worker decides, and shares the lock with the others
 *     lost        a node has no epoch, or its process is another than that of the epoch, or there never was one: the worker stops
 *                 deciding, writes what it has, and releases the lock
 *     restoring   the worker that holds the lock alone knows that all have done so; it removes what is left on the lost nodes, waits
 *                 until marks are written too, and begins new epochs there
 *
 * The order in the last of them matters. Users who are still loaded on a lost node can mark until that is removed; after that nobody can,
 * and every mark that was acknowledged is in the log. From the new epoch on state comes back from the store, on first use. Nodes that
 * were not lost are left as they are: users and conversations there are counted and marked all the while.
 */

export interface RecoveryParts {
	readonly epoch: Epoch;
	readonly lock: Pick<SessionLock, 'share' | 'release' | 'alone' | 'isFirst' | 'isStillFirst' | 'close'>;
	readonly worker: { halt(): Promise<void>; resume(): void };
	/** Of each partition of marks, up to where the log has any. */
	readonly endOfMarks: () => Promise<ReadonlyMap<string, number>>;
	/** Up to where the store has them. */
	readonly nextOffset: (partition: string) => Promise<number>;
	readonly nowMicros: () => number;
	readonly tell: (what: string) => void;
	/** It cannot be said how the read state is, or it cannot be restored: told at each attempt. */
	readonly onTrouble: (error: Error) => void;
	readonly onLost: () => void;
	readonly onWhole: () => void;
}

const EVERY_MS = 500;
const LOOK_AGAIN_MS = 100;
/** A worker that is paused holds the lock and does nothing: its partitions go to others, who replay. */
const OTHERS_WITHIN_MS = 20_000;
const DRAINED_WITHIN_MS = 30_000;

export class Recovery {
	private timer: ReturnType<typeof setTimeout> | undefined;
	private stopped = false;
	private running: Promise<void> = Promise.resolve();

	constructor(private readonly parts: RecoveryParts) {}

	/** Resolves when the read state is whole for the first time. */
	async start(): Promise<void> {
		await this.look(true);
		this.again();
	}

	async stop(): Promise<void> {
		this.stopped = true;
		clearTimeout(this.timer);
		await this.running.catch(() => undefined);
		await this.parts.lock.close();
	}

	private again(): void {
		if (this.stopped) return;
		this.timer = setTimeout(() => {
			this.running = this.look()
				.catch((error) => this.parts.onTrouble(error))
				.finally(() => this.again());
		}, EVERY_MS);
	}

	private async look(atStart = false): Promise<void> {
		const { epoch, lock } = this.parts;
		let isWhole = await this.isWhole();
		if (!isWhole) {
			// A worker that is starting has promised nothing yet, and where the installation is new, nothing was lost.
			if (!atStart) this.parts.onLost();
			await this.restore();
			isWhole = await this.isWhole();
		}
		await lock.share();
		// Also where restoring failed in the middle and another worker has done it.
		if (!isWhole) return;
		this.parts.worker.resume();
		this.parts.onWhole();
		await epoch.tidy();
	}

	private async isWhole(): Promise<boolean> {
		return (await this.parts.epoch.lost()).length === 0;
	}

	private async restore(): Promise<void> {
		const { epoch, lock, worker, tell } = this.parts;
		tell('Redis lost read state; pausing until PostgreSQL has all decided changes');
		await worker.halt();
		await lock.release();
		try {
			if (!(await this.isLeftToThisOne())) return;
			const lost = await epoch.lost();
			if (lost.length === 0) return;
			await epoch.clear(lost);
			await Bun.sleep(MARKS_ARE_LOGGED_MS);
			await this.marksWritten();
			if (this.stopped || !(await lock.isStillFirst())) return;
			await epoch.begin(this.parts.nowMicros);
			tell(
				`${lost.length} Redis nodes have a new epoch; their read state is loaded from PostgreSQL on first use`,
			);
		} finally {
			await lock.release();
		}
	}

	/** Answers false where another worker was first: it shares the lock again, and would be waited for in vain. */
	private async isLeftToThisOne(): Promise<boolean> {
		const { lock, tell } = this.parts;
		const patience = performance.now() + OTHERS_WITHIN_MS;
		while (!(await lock.alone())) {
			if (this.stopped || (await this.isWhole())) return false;
			if (performance.now() > patience) {
				tell('A worker did not release its lock in time; its partitions will be replayed');
				break;
			}
			await Bun.sleep(LOOK_AGAIN_MS);
		}
		// Two may have given up waiting for a third: the later one would remove what has come since.
		while (!(await lock.isFirst())) {
			if (this.stopped || (await this.isWhole())) return false;
			await Bun.sleep(LOOK_AGAIN_MS);
		}
		return true;
	}

	/** Everything that was acknowledged is in the log by now. */
	private async marksWritten(): Promise<void> {
		const { endOfMarks, nextOffset, tell } = this.parts;
		const patience = performance.now() + DRAINED_WITHIN_MS;
		for (const [partition, end] of await endOfMarks()) {
			while (!this.stopped && (await nextOffset(partition)) < end) {
				if (performance.now() > patience) {
					tell(
						`Marks of ${partition} are not in PostgreSQL yet; still waiting. Check that workers consume it.`,
					);
					return this.marksWritten();
				}
				await Bun.sleep(50);
			}
		}
	}
}
