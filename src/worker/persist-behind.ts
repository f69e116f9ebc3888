import type { Bus } from '../engine/ports/bus.ts';
import type { ReadFact } from '../engine/ports/facts.ts';
import type { LoggedCommand, LogSpan } from '../engine/ports/log.ts';
import { TakenOver } from '../engine/ports/taken-over.ts';
import { Refusal } from '../model/errors.ts';
import type { Command } from '../sequencer/commands.ts';
import type { Decision } from '../sequencer/decide.ts';
import type { ReadState } from '../unread/read-state.ts';
import { deliver } from './delivery.ts';
import { type CarriedOut, DELIVERED, type Order, type Row } from './order.ts';
import type { Replies } from './replies.ts';
import type { Slot, TrailingPersistence } from './trailing-persistence.ts';

/**
 * apply → deliver → reply → persist: the log has the command, so nothing waits for the store. The order of a cluster.
 *
 * A command that was sequenced has taken effect, because every replay comes to the same result: applying it is retried until it succeeds, or
 * the partition is released and the next owner replays it. So an outage never rejects a command: the command waits, and after a
 * while the caller learns that its outcome is unknown. Rows are written in the order of the log, in whatever order they are decided.
 *
 *     running    loading and applying are retried until they succeed
 *     draining   the read state is lost, and is reloaded when the store has everything that was decided. Part of a batch
 *                may be acknowledged already: so all of it is decided, which needs the store alone, and written. Rows that
 *                could not be applied are applied and delivered when the read state is whole. Until then, rows
 *                that follow in the same conversation are neither applied nor written
 *     leaving    another worker will own the partition: whatever cannot be done at once is given up. Never left again
 *     ended      nothing more is decided here
 *
 * A partition that is draining continues to drain while it is leaving: acknowledged changes would be missing from the reloaded state.
 */

export interface PersistBehindParts {
	readonly persistence: TrailingPersistence;
	readonly readState: Pick<ReadState, 'apply'>;
	readonly bus: Pick<Bus, 'publish'>;
	readonly replies: Replies;
	/** Resolves when the read state is whole; rejects when the worker stops. */
	readonly readStateComplete: () => Promise<void>;
	readonly sleep: (ms: number) => Promise<void>;
	readonly report: (error: unknown, about: string) => void;
}

/** Another worker has written to the partition: nothing more may be decided here. */
export class Overtaken extends TakenOver {
	constructor() {
		super('another worker has written to the partition');
		this.name = 'Overtaken';
	}
}

interface PlacedRow extends Row {
	/** Of each entry, its place among what is to be written. */
	readonly slots: readonly Slot[];
}

/** A row that is written, or will be, and could not be applied. */
interface Unapplied {
	readonly delivered: Promise<void>;
	isDelivered: boolean;
}

const PAUSES_MS = [50, 100, 200, 400, 800] as const;
/** A batch waits for its conversations as long; then the next one is taken, and queues up behind those that are slower. */
const PATIENCE_MS = 250;

export class PersistBehind implements Order {
	private ended = false;
	private draining = false;
	private drainBegins = Promise.withResolvers<void>();
	private left = false;
	private readonly leaving = Promise.withResolvers<void>();
	/** Called when the partition is to be left. */
	private readonly onLeaving = new Set<() => void>();
	/** Of each conversation the newest row that could not be applied, until it is delivered. */
	private readonly unapplied = new Map<string, Unapplied>();
	/** Rows that are being applied late. */
	private readonly underWay = new Set<Promise<unknown>>();

	constructor(private readonly parts: PersistBehindParts) {}

	drain(draining: boolean): void {
		this.draining = draining;
		if (draining) this.drainBegins.resolve();
		else this.drainBegins = Promise.withResolvers();
	}

	leave(): void {
		this.left = true;
		this.leaving.resolve();
		for (const stop of [...this.onLeaving]) stop();
	}

	end(): void {
		this.ended = true;
	}

	get isLeaving(): boolean {
		return this.left;
	}

	get isEnded(): boolean {
		return this.ended;
	}

	/** Resolves when another worker will own the partition. */
	get toBeLeft(): Promise<void> {
		return this.leaving.promise;
	}

	/** Resolves when nothing is being applied late. */
	async settled(): Promise<void> {
		await Promise.allSettled(this.underWay);
	}

	/** Commands of one conversation are one row: all of its effects are applied together. */
	rows(batch: readonly LoggedCommand[], span: LogSpan): readonly PlacedRow[] {
		const slots = this.parts.persistence.reserve(spansOf(batch, span));
		const rows = new Map<string, { conversation: string; entries: LoggedCommand[]; slots: Slot[] }>();
		for (const [index, entry] of batch.entries()) {
			const { conversation } = entry.command;
			let row = rows.get(conversation);
			if (!row) {
				row = { conversation, entries: [], slots: [] };
				rows.set(conversation, row);
			}
			row.entries.push(entry);
			row.slots.push(slots[index] as Slot);
		}
		return [...rows.values()];
	}

	/** That of the log: every replay comes to the same. */
	stamped(command: Command): Command {
		return command;
	}

	/** Where the partition is to be left, the store is not waited for. */
	load<T>(command: Command, work: () => Promise<T>): Promise<T> {
		const mayGiveUp = (): boolean => this.left && !this.draining;
		const load = () =>
			new Promise<T>((resolve, reject) => {
				const stop = (): void => {
					if (mayGiveUp()) reject(new Error('the partition was given up'));
				};
				this.onLeaving.add(stop);
				work()
					.then(resolve, reject)
					.finally(() => this.onLeaving.delete(stop));
			});
		return this.untilDone(`loading ${command.conversation}`, load, mayGiveUp);
	}

	async carryOut(row: PlacedRow, decisions: readonly Decision[]): Promise<CarriedOut> {
		const { conversation, slots } = row;
		const before = this.unapplied.get(conversation);
		// Where the row before could not be applied, this one waits for it. Written first, it would be lost to
		// the read state if this process ended: only while draining is that made up for.
		const mayApply = !before || (await this.deliveredUnlessDraining(before));
		const moved = mayApply
			? await this.applyAndDeliver(row, decisions, () => this.draining || this.left)
			: null;
		for (const [index, slot] of slots.entries())
			slot.fill(decisions[index]?.effects ?? [], index === 0 ? (moved ?? []) : []);
		return moved === null ? this.later(row, decisions, before) : DELIVERED;
	}

	/** What fails here fails on every attempt: the partition starts over. */
	failed(_: Row, error: unknown): never {
		throw error;
	}

	/** Fails only where delivery does so in time. */
	async taken(delivered: () => Promise<unknown>): Promise<void> {
		let timer: ReturnType<typeof setTimeout> | undefined;
		const patience = new Promise<void>((resolve) => {
			timer = setTimeout(resolve, PATIENCE_MS);
		});
		try {
			await Promise.race([delivered(), patience]);
		} finally {
			clearTimeout(timer);
		}
	}

	durable(conversation: string): number {
		return this.parts.persistence.durable(conversation);
	}

	/** Whether it is delivered: false where the partition drains before that. */
	private async deliveredUnlessDraining(row: Unapplied): Promise<boolean> {
		while (!row.isDelivered && !this.draining) {
			if (this.left) throw new Error('the partition was given up');
			await Promise.race([row.delivered, this.drainBegins.promise, this.toBeLeft]);
		}
		return row.isDelivered;
	}

	private later(row: Row, decisions: readonly Decision[], before: Unapplied | undefined): CarriedOut {
		const { conversation } = row;
		const delivered = this.deliverLater(row, decisions, before?.delivered);
		const unapplied: Unapplied = { delivered, isDelivered: false };
		this.unapplied.set(conversation, unapplied);
		delivered.then(
			() => {
				unapplied.isDelivered = true;
				if (this.unapplied.get(conversation) === unapplied) this.unapplied.delete(conversation);
			},
			// The partition reports it.
			() => undefined,
		);
		return { delivered };
	}

	/** Applies a row that is written already. No replay will do that, so it is not given up for the next owner. */
	private async deliverLater(
		row: Row,
		decisions: readonly Decision[],
		before: Promise<void> | undefined,
	): Promise<void> {
		await before;
		for (;;) {
			await this.parts.readStateComplete();
			const moved = await this.during(this.applyAndDeliver(row, decisions, () => this.draining));
			if (moved === null) continue;
			this.parts.persistence.takeMoved(moved);
			return;
		}
	}

	/** Null: not applied, because the read state is lost. */
	private async applyAndDeliver(
		{ conversation, entries }: Row,
		decisions: readonly Decision[],
		mayGiveUp: () => boolean,
	): Promise<readonly ReadFact[] | null> {
		const { readState, bus, replies } = this.parts;
		const effects = decisions.flatMap((decision) => decision.effects);
		let moved: readonly ReadFact[] = [];
		try {
			const apply = () => readState.apply(effects, (facts) => facts);
			if (effects.length > 0) moved = await this.untilDone(`applying to ${conversation}`, apply, mayGiveUp);
		} catch (error) {
			if (this.draining && !this.ended) return null;
			throw error;
		}
		for (const effect of effects) deliver(effect, bus);
		replies.replyAll(
			entries.map((entry, index) => ({ entry, outcome: (decisions[index] as Decision).outcome })),
		);
		return moved;
	}

	private during<T>(work: Promise<T>): Promise<T> {
		this.underWay.add(work);
		return work.finally(() => this.underWay.delete(work));
	}

	/** Commands wait as long as the store or the read state is down. */
	private async untilDone<T>(about: string, work: () => Promise<T>, mayGiveUp: () => boolean): Promise<T> {
		for (let attempt = 0; ; attempt += 1) {
			if (this.ended) throw new Error('the partition was given up');
			try {
				return await work();
			} catch (error) {
				if (mayGiveUp() || error instanceof Overtaken) throw error;
				// A refusal says which service is down, and the watch of that service has logged it.
				if (attempt === 0 && !(error instanceof Refusal)) this.parts.report(error, about);
				await this.parts.sleep(PAUSES_MS[attempt] ?? PAUSES_MS[PAUSES_MS.length - 1] ?? 0);
			}
		}
	}
}

/** What each entry stands for, so that a transaction can end after any of them. */
const spansOf = (batch: readonly LoggedCommand[], { from, to, ...place }: LogSpan): LogSpan[] =>
	batch.map((entry, index) => ({
		...place,
		from: index === 0 ? from : entry.offset,
		to: batch[index + 1]?.offset ?? to,
	}));
