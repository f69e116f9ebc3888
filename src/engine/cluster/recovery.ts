import type { SessionLock } from './postgres/session-lock.ts';
import { MARKS_ARE_LOGGED_MS } from './redis/epoch-guard.ts';
import type { Epochs } from './redis/epochs.ts';

/**
 * Rebuilds the read state of lost Redis nodes. Every worker runs this, and one of them does the work.
 *
 *     complete    no node is lost; the worker processes commands, and shares the lock with the other workers
 *     lost        a node has no epoch, or is a different process than its epoch names: the worker stops
 *                 processing, persists its effects, and releases the lock
 *     rebuilding  a worker that gets the lock exclusively knows that all others have released it; it clears the lost nodes,
 *                 waits until all marks are persisted, and begins new epochs there
 *
 * The order of these steps matters. Until a lost node is cleared, marks of users whose state it still has can succeed; after that no mark is
 * possible, and every acknowledged mark is in the log or in the store. From the new epoch on, state is loaded from the store on
 * first use. Nodes that were not lost are not touched: counts and marks there continue.
 */

export interface RecoveryParts {
	readonly epochs: Epochs;
	readonly lock: Pick<
		SessionLock,
		| 'share'
		| 'tryShare'
		| 'isLost'
		| 'release'
		| 'tryExclusive'
		| 'hasActiveHolder'
		| 'tryElect'
		| 'isElected'
		| 'close'
	>;
	readonly worker: { halt(): Promise<void>; resume(): void };
	/** The end of the log, for each partition of marks. */
	readonly endOfMarks: () => Promise<ReadonlyMap<string, number>>;
	/** The offset up to which the store has each partition, of commands and of marks. */
	readonly nextOffsets: () => Promise<ReadonlyMap<string, number>>;
	/** Called if all nodes are lost, before a new epoch begins: all read state will then be loaded from the store, with every effect below these offsets. */
	readonly onReloading: (offsets: ReadonlyMap<string, number>) => Promise<void>;
	readonly nowMicros: () => number;
	readonly log: (what: string) => void;
	/** Called whenever an attempt to check or rebuild the read state fails. */
	readonly onTrouble: (error: Error) => void;
	readonly onLost: () => void;
	readonly onComplete: () => void;
	/** How long to wait for a silent holder of the lock. */
	readonly othersWithinMs?: number;
}

const EVERY_MS = 500;
const POLL_MS = 100;
/** While a worker persists its effects, it uses its lock this often: otherwise the others would take it for paused. */
const ACTIVE_EVERY_MS = 1_000;
/** A paused worker may hold the lock. After this time its partitions are reassigned to other workers, which replay them. */
const OTHERS_WITHIN_MS = 20_000;
const WARN_EVERY_MS = 30_000;

export class Recovery {
	private timer: ReturnType<typeof setTimeout> | undefined;
	private stopped = false;
	private running: Promise<void> = Promise.resolve();

	constructor(private readonly parts: RecoveryParts) {}

	/** Resolves when the read state is complete for the first time. Retries until all services answer. */
	async start(): Promise<void> {
		for (let isChecked = false; !isChecked && !this.stopped; ) {
			try {
				await this.check(true);
				isChecked = true;
			} catch (error) {
				this.parts.onTrouble(error as Error);
				await Bun.sleep(EVERY_MS);
			}
		}
		this.scheduleCheck();
	}

	async stop(): Promise<void> {
		this.stopped = true;
		clearTimeout(this.timer);
		await this.running.catch(() => undefined);
		await this.parts.lock.close();
	}

	private scheduleCheck(): void {
		if (this.stopped) return;
		this.timer = setTimeout(() => {
			this.running = this.check()
				.catch((error) => this.parts.onTrouble(error))
				.finally(() => this.scheduleCheck());
		}, EVERY_MS);
	}

	private async check(atStart = false): Promise<void> {
		const { epochs, lock } = this.parts;
		let isComplete = await this.isComplete();
		if (!isComplete) {
			// At start this is normal: the installation may be new, or Redis was emptied before.
			if (!atStart) this.parts.onLost();
			await this.rebuild();
			isComplete = await this.isComplete();
		}
		await lock.share();
		if (!isComplete) return;
		// At every check, because a rebuild may have failed in this worker and succeeded in another.
		this.parts.worker.resume();
		this.parts.onComplete();
		await epochs.tidy();
	}

	private async isComplete(): Promise<boolean> {
		return (await this.parts.epochs.lost()).length === 0;
	}

	private async rebuild(): Promise<void> {
		const { epochs, lock, worker, log } = this.parts;
		log('The read state in Redis is missing or incomplete; pausing until PostgreSQL has all decided changes');
		await this.useLockUntil(worker.halt());
		await lock.release();
		try {
			if (!(await this.waitForElection())) return;
			const lost = await epochs.lost();
			if (lost.length === 0) return;
			await epochs.clear(lost);
			await Bun.sleep(MARKS_ARE_LOGGED_MS);
			await this.marksWritten();
			if (this.stopped || !(await lock.isElected())) return;
			if (epochs.areAllNodes(lost)) await this.parts.onReloading(await this.parts.nextOffsets());
			await epochs.begin(this.parts.nowMicros);
			log(
				`Began a new epoch on lost Redis nodes (${lost.length}); their read state is loaded from PostgreSQL on first use`,
			);
		} finally {
			await lock.release();
		}
	}

	/**
	 * Uses the lock while the worker persists its effects. If the lock was lost with its connection, as when PostgreSQL restarts, another
	 * worker may have rebuilt without these effects: then all nodes are rebuilt again.
	 */
	private async useLockUntil(halted: Promise<void>): Promise<void> {
		const { epochs, lock, log, onTrouble } = this.parts;
		const isHalted = halted.then(() => true);
		let isDone = false;
		let wasLost = false;
		while (!isDone) {
			const isLast = (await Promise.race([isHalted, Bun.sleep(ACTIVE_EVERY_MS)])) === true;
			try {
				wasLost ||= await lock.isLost();
				if (!isLast) await lock.tryShare();
				if (wasLost && (await this.isComplete())) {
					log(
						'Redis was rebuilt before PostgreSQL had all decided changes of this worker; rebuilding it again',
					);
					await epochs.endAll();
					wasLost = false;
				}
				isDone = isLast;
			} catch (error) {
				onTrouble(error as Error);
				if (isLast && this.stopped) return;
				if (isLast) await Bun.sleep(POLL_MS);
			}
		}
	}

	/**
	 * Resolves to false if another worker has already rebuilt: that worker shares the lock again, so waiting for the exclusive lock would
	 * never end.
	 */
	private async waitForElection(): Promise<boolean> {
		const { lock, log, othersWithinMs = OTHERS_WITHIN_MS } = this.parts;
		let deadline = performance.now() + othersWithinMs;
		while (!(await lock.tryExclusive())) {
			if (this.stopped || (await this.isComplete())) return false;
			if (performance.now() > deadline) {
				if (!(await lock.hasActiveHolder())) {
					log('A worker did not release its lock in time; its partitions will be replayed');
					break;
				}
				log(
					'A worker is still writing decided changes to PostgreSQL; waiting. Check the load of PostgreSQL.',
				);
				deadline = performance.now() + othersWithinMs;
			}
			await Bun.sleep(POLL_MS);
		}
		// Two workers may have stopped waiting for a third. Without an election, the second of them would clear what the first has rebuilt.
		while (!(await lock.tryElect())) {
			if (this.stopped || (await this.isComplete())) return false;
			await Bun.sleep(POLL_MS);
		}
		return true;
	}

	/**
	 * Resolves when the store has all marks. Must not be called before every acknowledged mark is in the log or
	 * in the store.
	 */
	private async marksWritten(): Promise<void> {
		const { endOfMarks, nextOffsets, log } = this.parts;
		const ends = await endOfMarks();
		let deadline = performance.now() + WARN_EVERY_MS;
		while (!this.stopped) {
			const offsets = await nextOffsets();
			const missing = [...ends.keys()].filter(
				(partition) => (offsets.get(partition) ?? 0) < (ends.get(partition) ?? 0),
			);
			if (missing.length === 0) return;
			if (performance.now() > deadline) {
				log(
					`Marks of ${missing.join(', ')} are not in PostgreSQL yet; still waiting. Check that workers consume them.`,
				);
				deadline += WARN_EVERY_MS;
			}
			await Bun.sleep(50);
		}
	}
}
