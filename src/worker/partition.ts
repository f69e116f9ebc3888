import type { Bus } from '../engine/ports/bus.ts';
import type { ReadFact } from '../engine/ports/facts.ts';
import type { LoggedCommand, LogSpan } from '../engine/ports/log.ts';
import type { ReadState } from '../engine/ports/read-state.ts';
import type { Command } from '../sequencer/commands.ts';
import { type Decision, sequence } from '../sequencer/decide.ts';
import type { Effect } from '../sequencer/effects.ts';
import type { ConversationState } from '../sequencer/state.ts';
import type { Conversations } from './conversations.ts';
import { deliver } from './delivery.ts';
import type { Replies } from './replies.ts';
import type { Decided, TrailingPersistence } from './trailing-persistence.ts';

/**
 * A partition of the log, while this process owns it: sequence → apply → deliver → reply → persist. Commands of
 * one conversation are done one after the other, those of different ones side by side, so that what they ask of the read
 * state goes out together.
 *
 * What was sequenced has happened, because every replay comes to the same: applying it is tried until it succeeds, or
 * the partition is given up and replayed by whoever owns it next.
 *
 *     running    whatever cannot be done is tried until it can
 *     draining   the read state is lost, and is loaded anew when the store has everything that was decided. Of a batch, part
 *                may be acknowledged already: so all of it is decided, which needs the store alone, and written. What
 *                could not be applied is left to `complete`
 *     leaving    it is to be another's: a batch that cannot be done at once is given up. Never left again
 *     ended      nothing more is decided here
 *
 * One that drains does so also while it leaves: what was acknowledged would be missing from what is loaded.
 */

export interface PartitionParts {
	readonly conversations: Conversations;
	readonly persistence: TrailingPersistence;
	readonly readState: ReadState;
	readonly bus: Bus;
	readonly replies: Replies;
	readonly sleep: (ms: number) => Promise<void>;
	readonly report: (error: unknown, about: string) => void;
}

/** The partition is another worker's by now: nothing more is to be decided here. */
export class Overtaken extends Error {
	constructor() {
		super('another worker has written to the partition');
		this.name = 'Overtaken';
	}
}

/** Commands of one conversation, and what was decided about them. */
export interface Lane {
	readonly conversation: string;
	readonly entries: readonly LoggedCommand[];
	readonly decisions: readonly Decision[];
}

const PAUSES_MS = [50, 100, 200, 400, 800] as const;

export class Partition {
	private ended = false;
	private draining = false;
	private left = false;
	private readonly leaving = Promise.withResolvers<void>();

	constructor(private readonly parts: PartitionParts) {}

	drain(draining: boolean): void {
		this.draining = draining;
	}

	leave(): void {
		this.left = true;
		this.leaving.resolve();
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

	/**
	 * Resolves when everything was decided and handed over to be written, with what nobody has heard of yet, because it could
	 * not be applied while the read state is lost.
	 */
	async process(batch: readonly LoggedCommand[], span: LogSpan): Promise<readonly Lane[]> {
		const decided = new Map<LoggedCommand, Decision>();
		const byConversation = Map.groupBy(batch, ({ command }) => command.conversation);
		const mayGiveUp = (): boolean => this.draining || this.left;
		const done = await Promise.all(
			[...byConversation].map(async ([conversation, entries]) => {
				const lane = await this.decideAll(conversation, entries);
				for (const [index, entry] of entries.entries()) decided.set(entry, lane.decisions[index] as Decision);
				return { lane, moved: await this.applyAndTell(lane, mayGiveUp) };
			}),
		);
		const moved = done.flatMap((one) => one.moved ?? []);
		this.parts.persistence.take(inParts(batch, span, (entry) => decided.get(entry)?.effects ?? [], moved));
		// Only now is it known what is not written yet: that must not be let go.
		for (const conversation of byConversation.keys())
			this.parts.conversations.turn(conversation, this.parts.persistence.durable(conversation));
		return done.filter((one) => one.moved === null).map(({ lane }) => lane);
	}

	/** What was written and not applied is applied to the read state of now, and told; answers as `process` does. */
	async complete(lanes: readonly Lane[], span: LogSpan): Promise<readonly Lane[]> {
		// Nobody replays it: it is not given up for another owner.
		const mayGiveUp = (): boolean => this.draining;
		const done = await Promise.all(
			lanes.map(async (lane) => ({ lane, moved: await this.applyAndTell(lane, mayGiveUp) })),
		);
		const moved = done.flatMap((one) => one.moved ?? []);
		if (moved.length > 0)
			this.parts.persistence.take([{ span: { ...span, from: span.to }, effects: [], moved }]);
		return done.filter((one) => one.moved === null).map(({ lane }) => lane);
	}

	/** Each is decided on what those before it made. */
	private async decideAll(conversation: string, entries: readonly LoggedCommand[]): Promise<Lane> {
		const mayGiveUp = (): boolean => this.left && !this.draining;
		const decisions: Decision[] = [];
		for (const { command } of entries) {
			const load = () => this.parts.conversations.ready(command);
			decisions.push(this.decide(await this.untilDone(`loading ${conversation}`, load, mayGiveUp), command));
		}
		return { conversation, entries, decisions };
	}

	/** All effects of a lane are applied together, then told. Null: not applied, because the read state is lost. */
	private async applyAndTell(lane: Lane, mayGiveUp: () => boolean): Promise<readonly ReadFact[] | null> {
		const { readState, bus, replies } = this.parts;
		const effects = lane.decisions.flatMap((decision) => decision.effects);
		let moved: readonly ReadFact[] = [];
		try {
			const apply = async () => readState.apply(effects);
			if (effects.length > 0)
				moved = await this.untilDone(`applying to ${lane.conversation}`, apply, mayGiveUp);
		} catch (error) {
			if (this.draining && !this.ended) return null;
			throw error;
		}
		for (const [index, entry] of lane.entries.entries()) {
			const { outcome, effects } = lane.decisions[index] as Decision;
			for (const effect of effects) deliver(effect, bus);
			replies.reply(entry, outcome);
		}
		return moved;
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

	/** The store or the read state may be away: commands wait in the log as long. */
	private async untilDone<T>(about: string, work: () => Promise<T>, mayGiveUp: () => boolean): Promise<T> {
		for (let attempt = 0; ; attempt += 1) {
			if (this.ended) throw new Error('the partition was given up');
			try {
				return await work();
			} catch (error) {
				if (mayGiveUp() || error instanceof Overtaken) throw error;
				if (attempt === 0) this.parts.report(error, about);
				await this.parts.sleep(PAUSES_MS[attempt] ?? PAUSES_MS[PAUSES_MS.length - 1] ?? 0);
			}
		}
	}
}

/** What came of each entry, so that a transaction can end after any of them; cursors go with the first. */
function inParts(
	batch: readonly LoggedCommand[],
	{ partition, from, to }: LogSpan,
	effectsOf: (entry: LoggedCommand) => readonly Effect[],
	moved: readonly ReadFact[],
): Decided[] {
	return batch.map((entry, index) => {
		const [begin, end] = [index === 0 ? from : entry.offset, batch[index + 1]?.offset ?? to];
		const span = { partition, from: begin, to: end };
		return { span, effects: effectsOf(entry), moved: index === 0 ? moved : [] };
	});
}
