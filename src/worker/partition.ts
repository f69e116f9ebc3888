import type { Bus } from '../engine/ports/bus.ts';
import type { ReadFact } from '../engine/ports/facts.ts';
import type { LoggedCommand, LogSpan } from '../engine/ports/log.ts';
import { TakenOver } from '../engine/ports/taken-over.ts';
import { Refusal } from '../model/errors.ts';
import type { Command } from '../sequencer/commands.ts';
import { type Decision, sequence } from '../sequencer/decide.ts';
import type { ConversationState } from '../sequencer/state.ts';
import type { ReadState } from '../unread/read-state.ts';
import type { Conversations } from './conversations.ts';
import { deliver } from './delivery.ts';
import type { Replies } from './replies.ts';
import type { Slot, TrailingPersistence } from './trailing-persistence.ts';

/**
 * A partition of the log, while this process owns it: sequence → apply → deliver → reply → persist. Commands of
 * one conversation are done one after the other, those of different ones side by side, so that what they ask of the read
 * state goes out together.
 *
 * A conversation that waits, for the store mostly, holds up nobody else: after a moment the next batch is taken, and what it has for
 * that conversation queues up behind. What is decided meanwhile keeps its place: it is written in the order of the log.
 *
 * What was sequenced has happened, because every replay comes to the same: applying it is tried until it succeeds, or
 * the partition is given up and replayed by whoever owns it next. So a command is never refused because something is away: it
 * waits, and whoever asked is told after a while that the outcome is not known.
 *
 *     running    whatever cannot be done is tried until it can
 *     draining   the read state is lost, and is loaded anew when the store has everything that was decided. Of a batch, part
 *                may be acknowledged already: so all of it is decided, which needs the store alone, and written. What
 *                could not be applied is applied and told when the read state is whole. Until that is done, commands
 *                that follow in the same conversation are neither applied nor written
 *     leaving    it is to be another's: what cannot be done at once is given up. Never left again
 *     ended      nothing more is decided here
 *
 * One that drains does so also while it leaves: what was acknowledged would be missing from what is loaded.
 */

export interface PartitionParts {
	readonly conversations: Conversations;
	readonly persistence: TrailingPersistence;
	readonly readState: ReadState;
	readonly bus: Pick<Bus, 'publish'>;
	readonly replies: Replies;
	/** Resolves when the read state is whole; rejects where that is not awaited any more. */
	readonly whole: () => Promise<void>;
	/** Something failed that no batch waits for: the partition is to be begun again. */
	readonly onFailed: (error: unknown) => void;
	readonly sleep: (ms: number) => Promise<void>;
	readonly report: (error: unknown, about: string) => void;
}

/** The partition is another worker's by now: nothing more is to be decided here. */
export class Overtaken extends TakenOver {
	constructor() {
		super('another worker has written to the partition');
		this.name = 'Overtaken';
	}
}

/** An entry of the log, and its place among what is to be written. */
interface Work {
	readonly entry: LoggedCommand;
	readonly slot: Slot;
}

/** What was decided about commands of one conversation, in their order. */
interface Decided {
	readonly conversation: string;
	readonly entries: readonly LoggedCommand[];
	readonly decisions: readonly Decision[];
}

/** Commands of one conversation that came in one batch. */
interface Lane {
	readonly size: number;
	/** Everything is decided and handed over to be written; answers with what could not be applied, if that is so. */
	readonly decided: Promise<Decided | null>;
	/** And everybody has heard of it. */
	readonly told: Promise<void>;
	isTold: boolean;
	/** A batch waits for it, and fails with it. */
	isAwaited: boolean;
}

const PAUSES_MS = [50, 100, 200, 400, 800] as const;
/** A conversation that takes longer is not waited for: the next batch is taken. */
const PATIENCE_MS = 250;
/** Entries of conversations that wait. With more of them nothing else is taken either. */
const MOST_WAITING = 4_000;

export class Partition {
	private ended = false;
	private draining = false;
	private drainBegins = Promise.withResolvers<void>();
	private left = false;
	private readonly leaving = Promise.withResolvers<void>();
	/** Called when it is to be left. */
	private readonly onLeaving = new Set<() => void>();
	/** Of each conversation the newest lane, while it is not told. */
	private readonly newest = new Map<string, Lane>();
	private readonly lanes = new Set<Lane>();
	/** What is being decided or applied. */
	private readonly underWay = new Set<Promise<unknown>>();

	constructor(private readonly parts: PartitionParts) {}

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

	/** Resolves when it is to be another's. */
	get toBeLeft(): Promise<void> {
		return this.leaving.promise;
	}

	/** Resolves when nothing is being decided or applied any more. */
	async settled(): Promise<void> {
		await Promise.allSettled(this.underWay);
	}

	/** Resolves when everybody has heard of everything that was taken (true), or part of it was given up. */
	async finished(): Promise<boolean> {
		const told = await Promise.allSettled([...this.lanes].map((lane) => lane.told));
		return told.every(({ status }) => status === 'fulfilled');
	}

	/** Resolves when fewer entries may be waiting; null: there is room for a batch. */
	room(): Promise<void> | null {
		if (this.waiting <= MOST_WAITING) return null;
		return Promise.race([...this.lanes].map(({ told }) => told));
	}

	/**
	 * Resolves when the next batch can be taken: everybody has heard of this one, but for conversations that have to wait.
	 * Begins all of the batch before it returns.
	 */
	async process(batch: readonly LoggedCommand[], span: LogSpan): Promise<void> {
		const slots = this.parts.persistence.reserve(spansOf(batch, span));
		const work = batch.map((entry, index): Work => ({ entry, slot: slots[index] as Slot }));
		const lanes: Lane[] = [];
		for (const [conversation, ofOne] of Map.groupBy(work, ({ entry }) => entry.command.conversation)) {
			const before = this.newest.get(conversation);
			const lane = this.begin(conversation, ofOne, before);
			if (before) continue;
			lane.isAwaited = true;
			lanes.push(lane);
		}
		await this.patiently(Promise.all(lanes.map(({ told }) => told)));
		for (const lane of lanes) lane.isAwaited = false;
	}

	private get waiting(): number {
		return [...this.lanes].reduce((sum, { size }) => sum + size, 0);
	}

	/** Fails only where the work does so in time. */
	private async patiently(work: Promise<unknown>): Promise<void> {
		let timer: ReturnType<typeof setTimeout> | undefined;
		const patience = new Promise<void>((resolve) => {
			timer = setTimeout(resolve, PATIENCE_MS);
		});
		try {
			await Promise.race([work, patience]);
		} finally {
			clearTimeout(timer);
		}
	}

	private begin(conversation: string, work: readonly Work[], before: Lane | undefined): Lane {
		const decided = this.during(this.decideLane(conversation, work, before));
		const told = decided.then((left) => (left ? this.tellLater(left, before) : undefined));
		const lane: Lane = { size: work.length, decided, told, isTold: false, isAwaited: false };
		this.newest.set(conversation, lane);
		this.lanes.add(lane);
		told.then(
			() => {
				lane.isTold = true;
				this.lanes.delete(lane);
				if (this.newest.get(conversation) === lane) this.newest.delete(conversation);
			},
			(error) => {
				// Kept: nothing more is done about the conversation here.
				this.lanes.delete(lane);
				if (!lane.isAwaited && !this.left && !this.ended) this.parts.onFailed(error);
			},
		);
		return lane;
	}

	/** Each is decided on what those before it made; all effects are applied together, told, and handed over to be written. */
	private async decideLane(
		conversation: string,
		work: readonly Work[],
		before: Lane | undefined,
	): Promise<Decided | null> {
		const undone = await before?.decided;
		const entries = work.map(({ entry }) => entry);
		const decisions: Decision[] = [];
		for (const { command } of entries) decisions.push(this.decide(await this.loaded(command), command));
		const decided = { conversation, entries, decisions };
		// Where what came before could not be applied, this has to wait for it. Written first, it would be lost to
		// the read state if this process ended: only while draining is that made up for.
		const mayApply = !undone || !before || (await this.toldUnlessDraining(before));
		const moved = mayApply ? await this.applyAndTell(decided, () => this.draining || this.left) : null;
		for (const [index, { slot }] of work.entries())
			slot.fill(decisions[index]?.effects ?? [], index === 0 ? (moved ?? []) : []);
		// Only now is it known what is not written yet: that must not be let go.
		const { conversations, persistence } = this.parts;
		conversations.turn(conversation, persistence.durable(conversation));
		return moved === null ? decided : null;
	}

	/** Whether the lane is told: false where the partition drains before that. */
	private async toldUnlessDraining(lane: Lane): Promise<boolean> {
		while (!lane.isTold && !this.draining) {
			if (this.left) throw new Error('the partition was given up');
			await Promise.race([lane.told, this.drainBegins.promise, this.toBeLeft]);
		}
		return lane.isTold;
	}

	/** What is written and was not applied is applied to the read state of then. Nobody replays it: it is not given up for another owner. */
	private async tellLater(decided: Decided, before: Lane | undefined): Promise<void> {
		await before?.told;
		for (;;) {
			await this.parts.whole();
			const moved = await this.during(this.applyAndTell(decided, () => this.draining));
			if (moved === null) continue;
			this.parts.persistence.takeMoved(moved);
			return;
		}
	}

	/** Null: not applied, because the read state is lost. */
	private async applyAndTell(
		{ conversation, entries, decisions }: Decided,
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

	/** The state that the command is decided on. Where the partition is to be left, the store is not waited for. */
	private loaded(command: Command): Promise<ConversationState> {
		const mayGiveUp = (): boolean => this.left && !this.draining;
		const load = () =>
			new Promise<ConversationState>((resolve, reject) => {
				const stop = (): void => {
					if (mayGiveUp()) reject(new Error('the partition was given up'));
				};
				this.onLeaving.add(stop);
				this.parts.conversations
					.ready(command)
					.then(resolve, reject)
					.finally(() => this.onLeaving.delete(stop));
			});
		return this.untilDone(`loading ${command.conversation}`, load, mayGiveUp);
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

	private during<T>(work: Promise<T>): Promise<T> {
		this.underWay.add(work);
		return work.finally(() => this.underWay.delete(work));
	}

	/** The store or the read state may be away: commands wait as long. */
	private async untilDone<T>(about: string, work: () => Promise<T>, mayGiveUp: () => boolean): Promise<T> {
		for (let attempt = 0; ; attempt += 1) {
			if (this.ended) throw new Error('the partition was given up');
			try {
				return await work();
			} catch (error) {
				if (mayGiveUp() || error instanceof Overtaken) throw error;
				// A refusal says what is away, and whoever watches that has told it.
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
