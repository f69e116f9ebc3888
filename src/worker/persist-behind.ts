import type { Bus } from '../engine/ports/bus.ts';
import type { ReadFact } from '../engine/ports/facts.ts';
import {
	type LoggedCommand,
	type LogSpan,
	OwnerChanged,
	Released,
	WorkDiscarded,
} from '../engine/ports/log.ts';
import type { Views } from '../engine/ports/views.ts';
import { Rejection } from '../model/errors.ts';
import type { Command } from '../sequencer/commands.ts';
import type { Decision } from '../sequencer/decide.ts';
import { type CommandGroup, type EffectPipeline, type ExecutedGroup, PUBLISHED } from './effect-pipeline.ts';
import { publishEvents } from './publish-events.ts';
import type { Replies } from './replies.ts';
import type { Reservation, TrailingPersistence } from './trailing-persistence.ts';

/**
 * The pipeline of a cluster: apply → publish → reply → persist. The log has the command, so no answer waits for the store.
 *
 * A sequenced command has taken effect, because every replay gives the same result. Applying it is retried until it succeeds, or
 * until the partition is released and the next owner replays it. So an outage never rejects a command: the command waits, and
 * after a while the caller gets `outcome_unknown`. Groups are persisted in log order, in whatever order they are decided.
 *
 *     running    retries loading and applying until they succeed
 *     draining   the read state is lost and will be reloaded once the store has every effect. Part of a batch may already be
 *                acknowledged, so the whole batch is decided, which needs only the store, and persisted. Applying a post moves its
 *                author's cursor, but a persisted command is not replayed: if this worker dies, nobody applies it. So each post of
 *                an unapplied group is persisted with an `own_post` fact, by which the store moves the cursor. The group is applied
 *                and published when the read state is complete. After draining, later groups of the same conversation wait until that
 *                group is published
 *     leaving    another worker will own the partition: abandons work that cannot be finished at once. Only `ended` can follow
 *     ended      decides no more commands
 *
 * A partition that is draining continues to drain while it is leaving: otherwise the reloaded state would lack acknowledged changes.
 */

export interface PersistBehindParts {
	readonly persistence: TrailingPersistence;
	readonly views: Pick<Views, 'apply'>;
	readonly bus: Pick<Bus, 'publish'>;
	readonly replies: Replies;
	/** Resolves when the read state is complete; rejects when the worker stops. */
	readonly readStateComplete: () => Promise<void>;
	readonly sleep: (ms: number) => Promise<void>;
	readonly report: (error: unknown, about: string) => void;
}

/** Another worker has claimed the partition, or has written or published for it: this worker must not decide any more of its commands. */
export class Overtaken extends OwnerChanged {
	constructor() {
		super('another worker owns the partition');
		this.name = 'Overtaken';
	}
}

/** The store lost transactions that it had confirmed, as after a failover to a replica that was behind. The log still has their commands. */
export class RolledBack extends WorkDiscarded {
	readonly advice =
		'PostgreSQL lost confirmed transactions. This worker processes the log again from that offset; changes that are not in the log, such as new accounts, may be lost. Check whether PostgreSQL failed over to a replica that was behind.';

	constructor(confirmed: number, offset: number) {
		super(`the store is at offset ${offset}, after it had confirmed ${confirmed}`);
		this.name = 'RolledBack';
	}
}

interface PlacedGroup extends CommandGroup {
	/** One for each command. */
	readonly reservations: readonly Reservation[];
}

/** A group that is persisted, or will be, but could not be applied. */
interface Unapplied {
	readonly published: Promise<void>;
	isPublished: boolean;
}

const RETRY_DELAYS_MS = [50, 100, 200, 400, 800] as const;
/** How long a batch waits for slow conversations; then the next batch is taken, and queues behind them. */
const BATCH_WAIT_MS = 250;

export class PersistBehind implements EffectPipeline {
	private ended = false;
	private draining = false;
	private drainBegins = Promise.withResolvers<void>();
	private hasStartedLeaving = false;
	private readonly leaving = Promise.withResolvers<void>();
	/** Called when the partition starts leaving. */
	private readonly onLeaving = new Set<() => void>();
	/** The newest unapplied group of each conversation, until it is published. */
	private readonly unapplied = new Map<string, Unapplied>();
	/** Groups that are being applied late. */
	private readonly inFlight = new Set<Promise<unknown>>();

	constructor(private readonly parts: PersistBehindParts) {}

	drain(draining: boolean): void {
		this.draining = draining;
		if (draining) this.drainBegins.resolve();
		else this.drainBegins = Promise.withResolvers();
	}

	leave(): void {
		this.hasStartedLeaving = true;
		this.leaving.resolve();
		for (const stop of [...this.onLeaving]) stop();
	}

	end(): void {
		this.ended = true;
	}

	get isLeaving(): boolean {
		return this.hasStartedLeaving;
	}

	get isEnded(): boolean {
		return this.ended;
	}

	/** Resolves when the partition starts leaving. */
	get untilLeaving(): Promise<void> {
		return this.leaving.promise;
	}

	/** Resolves when no group is being applied late. */
	async idle(): Promise<void> {
		await Promise.allSettled(this.inFlight);
	}

	/** All commands of a conversation form one group, so that their effects are applied together. */
	groups(batch: readonly LoggedCommand[], span: LogSpan): readonly PlacedGroup[] {
		const reservations = this.parts.persistence.reserve(spansOf(batch, span));
		const groups = new Map<
			string,
			{ conversation: string; commands: LoggedCommand[]; reservations: Reservation[] }
		>();
		for (const [index, record] of batch.entries()) {
			const { conversation } = record.command;
			let group = groups.get(conversation);
			if (!group) {
				group = { conversation, commands: [], reservations: [] };
				groups.set(conversation, group);
			}
			group.commands.push(record);
			group.reservations.push(reservations[index] as Reservation);
		}
		return [...groups.values()];
	}

	/** With the time in the log, so that every replay gives the same result. */
	stamped(command: Command): Command {
		return command;
	}

	/** Gives up when the partition begins to leave, unless it is draining: the store may not answer. */
	load<T>(command: Command, work: () => Promise<T>): Promise<T> {
		const mayGiveUp = (): boolean => this.hasStartedLeaving && !this.draining;
		const load = () =>
			new Promise<T>((resolve, reject) => {
				const stop = (): void => {
					if (mayGiveUp()) reject(new Released());
				};
				this.onLeaving.add(stop);
				work()
					.then(resolve, reject)
					.finally(() => this.onLeaving.delete(stop));
			});
		return this.retry(`loading ${command.conversation}`, load, mayGiveUp);
	}

	async execute(group: PlacedGroup, decisions: readonly Decision[]): Promise<ExecutedGroup> {
		const { conversation, reservations } = group;
		const before = this.unapplied.get(conversation);
		// While the previous group is not applied, this one cannot be applied either, so it waits: if it were persisted unapplied and the
		// process died, no replay would apply it. While draining that does not matter: the read state is reloaded from the store.
		const mayApply = !before || (await this.publishedUnlessDraining(before));
		const moved = mayApply
			? await this.applyAndPublish(group, decisions, () => this.draining || this.hasStartedLeaving)
			: null;
		for (const [index, reservation] of reservations.entries())
			reservation.fill({
				effects: decisions[index]?.effects ?? [],
				moved: index === 0 ? (moved ?? []) : [],
				isUnapplied: moved === null,
			});
		return moved === null ? this.applyLater(group, decisions, before) : PUBLISHED;
	}

	/** Retrying has ended without success: the partition has to be restarted, or passes to its next owner. */
	failed(_: CommandGroup, error: unknown): never {
		throw error;
	}

	/** Rejects only if publishing fails before `BATCH_WAIT_MS`. */
	async readyForNext(published: () => Promise<unknown>): Promise<void> {
		let timer: ReturnType<typeof setTimeout> | undefined;
		const timeout = new Promise<void>((resolve) => {
			timer = setTimeout(resolve, BATCH_WAIT_MS);
		});
		try {
			await Promise.race([published(), timeout]);
		} finally {
			clearTimeout(timer);
		}
	}

	durable(conversation: string): number {
		return this.parts.persistence.durable(conversation);
	}

	/** Whether the group is published; false if the partition starts draining first. */
	private async publishedUnlessDraining(group: Unapplied): Promise<boolean> {
		while (!group.isPublished && !this.draining) {
			if (this.hasStartedLeaving) throw new Released();
			await Promise.race([group.published, this.drainBegins.promise, this.untilLeaving]);
		}
		return group.isPublished;
	}

	private applyLater(
		group: CommandGroup,
		decisions: readonly Decision[],
		before: Unapplied | undefined,
	): ExecutedGroup {
		const { conversation } = group;
		const published = this.publishLater(group, decisions, before?.published);
		const unapplied: Unapplied = { published, isPublished: false };
		this.unapplied.set(conversation, unapplied);
		published.then(
			() => {
				unapplied.isPublished = true;
				if (this.unapplied.get(conversation) === unapplied) this.unapplied.delete(conversation);
			},
			// The partition reports the error.
			() => undefined,
		);
		return { published };
	}

	/** Applies a group that is already persisted. The next owner would not replay it, so it cannot be left to the next owner. */
	private async publishLater(
		group: CommandGroup,
		decisions: readonly Decision[],
		before: Promise<void> | undefined,
	): Promise<void> {
		await before;
		for (;;) {
			await this.parts.readStateComplete();
			const moved = await this.track(this.applyAndPublish(group, decisions, () => this.draining));
			if (moved === null) continue;
			this.parts.persistence.takeMoved(moved);
			return;
		}
	}

	/** Null: not applied, because the read state is lost. */
	private async applyAndPublish(
		{ conversation, commands }: CommandGroup,
		decisions: readonly Decision[],
		mayGiveUp: () => boolean,
	): Promise<readonly ReadFact[] | null> {
		const { views, persistence, bus, replies } = this.parts;
		const effects = decisions.flatMap((decision) => decision.effects);
		let moved: readonly ReadFact[] = [];
		try {
			const apply = () => views.apply(effects, persistence.storedStamp(conversation), (facts) => facts);
			if (effects.length > 0) moved = await this.retry(`applying to ${conversation}`, apply, mayGiveUp);
		} catch (error) {
			if (this.draining && !this.ended) return null;
			throw error;
		}
		for (const effect of effects) publishEvents(effect, bus);
		replies.replyAll(
			commands.map((record, index) => ({ record, outcome: (decisions[index] as Decision).outcome })),
		);
		return moved;
	}

	private track<T>(work: Promise<T>): Promise<T> {
		this.inFlight.add(work);
		return work.finally(() => this.inFlight.delete(work));
	}

	/** Retries: commands wait while the store or the read state is unavailable. */
	private async retry<T>(about: string, work: () => Promise<T>, mayGiveUp: () => boolean): Promise<T> {
		for (let attempt = 0; ; attempt += 1) {
			if (this.ended) throw new Released();
			try {
				return await work();
			} catch (error) {
				if (mayGiveUp() || error instanceof WorkDiscarded) throw error;
				// A `Rejection` means that a service is unavailable, which the monitor of that service has logged.
				if (attempt === 0 && !(error instanceof Rejection)) this.parts.report(error, about);
				await this.parts.sleep(RETRY_DELAYS_MS[attempt] ?? RETRY_DELAYS_MS[RETRY_DELAYS_MS.length - 1] ?? 0);
			}
		}
	}
}

/** One span per command, so that a transaction can end after any command. */
const spansOf = (batch: readonly LoggedCommand[], { from, to, ...place }: LogSpan): LogSpan[] =>
	batch.map((record, index) => ({
		...place,
		from: index === 0 ? from : record.offset,
		to: batch[index + 1]?.offset ?? to,
	}));
