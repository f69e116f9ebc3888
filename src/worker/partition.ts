import type { LoggedCommand, LogSpan } from '../engine/ports/log.ts';
import type { Release } from '../engine/ports/views.ts';
import type { Command } from '../sequencer/commands.ts';
import { type Decision, sequence } from '../sequencer/decide.ts';
import type { ConversationState } from '../sequencer/state.ts';
import type { ReadState } from '../unread/read-state.ts';
import type { Conversations } from './conversations.ts';
import { ageMs } from './lag.ts';
import type { CarriedOut, Order, Row } from './order.ts';

/**
 * A partition of the log, while this process owns it: prepare → sequence, then apply, persist, deliver and reply in the order of
 * its engine (`Order`). The embedded engine is one partition; a worker of a cluster has any number of them.
 *
 * Commands of one conversation are decided one after the other, in the order of the log; those of different conversations side by
 * side. A conversation that waits, mostly for the store, delays no other.
 */

export interface PartitionParts {
	readonly conversations: Conversations;
	readonly readState: Pick<ReadState, 'prepare'>;
	readonly order: Order;
	/** Something failed that no batch waits for: the partition has to start over. */
	readonly onFailed: (error: unknown) => void;
	readonly nowMs: () => number;
	readonly report: (error: unknown, about: string) => void;
}

/** A row on its way. */
interface Lane {
	readonly conversation: string;
	readonly size: number;
	readonly carriedOut: Promise<CarriedOut>;
	/** Resolves when it is delivered (null) or has failed; never rejects. */
	ended: Promise<Failure | null>;
	/** A batch waits for it, and fails with it. */
	isAwaited: boolean;
}

interface Failure {
	readonly error: unknown;
}

/** Entries that are not delivered. With more of them no batch is taken. */
const MOST_WAITING = 4_000;

const NOT_FAILED = Promise.resolve(null);

export class Partition {
	private lag = 0;
	private waiting = 0;
	private readonly lanes = new Set<Lane>();
	/** Of each conversation the newest lane, until it is delivered. */
	private readonly newest = new Map<string, Lane>();

	constructor(private readonly parts: PartitionParts) {}

	/** Begins all of the batch before it returns. Resolves when the next batch may be taken. */
	async process(batch: readonly LoggedCommand[], span: LogSpan): Promise<void> {
		const { order, nowMs } = this.parts;
		this.lag = ageMs(batch, nowMs());
		const first: Lane[] = [];
		for (const row of order.rows(batch, span)) {
			const before = this.newest.get(row.conversation);
			const lane = this.begin(row, before);
			if (before) continue;
			lane.isAwaited = true;
			first.push(lane);
		}
		await order.taken(() => Promise.all(first.map(delivered)));
		for (const lane of first) lane.isAwaited = false;
	}

	/** A commit failed: what was decided since is void, and state is loaded from the store again. */
	reset(): void {
		this.parts.conversations.clear();
	}

	/** Forgets conversations not used since `before`, by the clock of `Conversations`, if the store has all of them. */
	evict(before: number): void {
		const { conversations, order } = this.parts;
		conversations.evict(before, (id, stamp) => stamp <= order.durable(id));
	}

	/** Age of the newest command when it was decided; ms. */
	lagMs(): number {
		return this.lag;
	}

	/** Resolves when nothing is being decided or carried out. */
	async settled(): Promise<void> {
		await Promise.allSettled([...this.lanes].map(({ carriedOut }) => carriedOut));
	}

	/** Resolves when everything that was taken is delivered (true), or part of it failed. */
	async finished(): Promise<boolean> {
		const failures = await Promise.all([...this.lanes].map(({ ended }) => ended));
		return failures.every((failure) => failure === null);
	}

	/** Resolves when fewer entries may be waiting; null: there is room for a batch. */
	room(): Promise<void> | null {
		if (this.waiting <= MOST_WAITING) return null;
		return Promise.race([...this.lanes].map(({ ended }) => ended)).then(() => undefined);
	}

	private begin(row: Row, before: Lane | undefined): Lane {
		const { conversation, entries } = row;
		const carriedOut = this.run(row, before?.carriedOut);
		const lane: Lane = {
			conversation,
			size: entries.length,
			carriedOut,
			ended: NOT_FAILED,
			isAwaited: false,
		};
		this.lanes.add(lane);
		this.newest.set(conversation, lane);
		this.waiting += lane.size;
		lane.ended = this.follow(lane);
		return lane;
	}

	private async follow(lane: Lane): Promise<Failure | null> {
		try {
			const { delivered } = await lane.carriedOut;
			if (delivered) await delivered;
		} catch (error) {
			// It stays the newest: nothing more is decided about the conversation here.
			this.remove(lane);
			if (!lane.isAwaited) this.parts.onFailed(error);
			return { error };
		}
		this.remove(lane);
		if (this.newest.get(lane.conversation) === lane) this.newest.delete(lane.conversation);
		return null;
	}

	private remove(lane: Lane): void {
		this.lanes.delete(lane);
		this.waiting -= lane.size;
	}

	private async run(row: Row, before: Promise<unknown> | undefined): Promise<CarriedOut> {
		const { conversations, order } = this.parts;
		if (before) await before;
		const held: Release[] = [];
		try {
			const decisions: Decision[] = [];
			for (const { command } of row.entries) {
				let state: ConversationState;
				do state = await order.load(command, () => this.prepare(command, held));
				while (!conversations.has(command.conversation, state));
				// Nothing is awaited from here to the next command, or until the row is carried out.
				decisions.push(this.decide(state, order.stamped(command)));
			}
			const carriedOut = await order.carryOut(row, decisions);
			// Only now is it known what is not durable yet: that must stay in memory.
			conversations.turn(row.conversation, order.durable(row.conversation));
			return carriedOut;
		} catch (error) {
			return order.failed(row, error);
		} finally {
			for (const release of held) release();
		}
	}

	private async prepare(command: Command, held: Release[]): Promise<ConversationState> {
		held.push(await this.parts.readState.prepare(command));
		return this.parts.conversations.ready(command);
	}

	/** What is wrong here is wrong on every replay: it must not hold back what is behind it. */
	private decide(state: ConversationState, command: Command): Decision {
		try {
			return sequence(state, command);
		} catch (error) {
			this.parts.report(error, `command ${command.action.type}`);
			return { outcome: { ok: false, error: 'internal_error' }, effects: [] };
		}
	}
}

/** Rejects with what failed. */
async function delivered({ ended }: Lane): Promise<void> {
	const failure = await ended;
	if (failure) throw failure.error;
}
