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
import type { TrailingPersistence } from './trailing-persistence.ts';

/**
 * A partition of the log, while this process owns it: sequence → apply → deliver → reply → persist. Commands of
 * one conversation are done one after the other, those of different ones side by side, so that what they ask of the read
 * state goes out together.
 *
 * What was sequenced has happened, because every replay comes to the same: applying it is tried until it succeeds, or
 * the partition is given up and replayed by whoever owns it next.
 */

export interface PartitionParts {
	readonly conversations: Conversations;
	readonly persistence: TrailingPersistence;
	readonly readState: ReadState;
	readonly bus: Bus;
	readonly replies: Replies;
	readonly report: (error: unknown, about: string) => void;
}

const PAUSES_MS = [50, 100, 200, 400, 800] as const;

export class Partition {
	private ended = false;
	private interrupted = false;

	constructor(private readonly parts: PartitionParts) {}

	/** It is another's, or is begun anew: nothing more is decided here. */
	end(): void {
		this.ended = true;
	}

	/** While so, nothing is tried again: a batch that cannot be done now is given up, and replayed later. */
	interrupt(interrupted: boolean): void {
		this.interrupted = interrupted;
	}

	async process(batch: readonly LoggedCommand[], span: LogSpan): Promise<void> {
		const decided = new Map<LoggedCommand, Decision>();
		const lanes = Map.groupBy(batch, ({ command }) => command.conversation);
		const moved = await Promise.all(
			[...lanes].map(([conversation, lane]) => this.inLane(conversation, lane, decided)),
		);
		await this.parts.persistence.take({
			span,
			effects: batch.flatMap((entry) => decided.get(entry)?.effects ?? []),
			moved: moved.flat(),
		});
		// Only now is it known what is not written yet: that must not be let go.
		for (const conversation of lanes.keys())
			this.parts.conversations.turn(conversation, this.parts.persistence.durable(conversation));
	}

	/** Commands of one conversation: each is decided on what those before it made, all are applied together. */
	private async inLane(
		conversation: string,
		lane: readonly LoggedCommand[],
		decided: Map<LoggedCommand, Decision>,
	): Promise<readonly ReadFact[]> {
		const { conversations, readState, bus, replies } = this.parts;
		const effects: Effect[] = [];
		for (const entry of lane) {
			const state = await this.untilDone(`loading ${conversation}`, () => conversations.ready(entry.command));
			const decision = this.decide(state, entry.command);
			decided.set(entry, decision);
			effects.push(...decision.effects);
		}
		const moved =
			effects.length === 0
				? []
				: await this.untilDone(`applying to ${conversation}`, async () => readState.apply(effects));
		for (const entry of lane) {
			const { outcome, effects } = decided.get(entry) as Decision;
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
	private async untilDone<T>(about: string, work: () => Promise<T>): Promise<T> {
		for (let attempt = 0; ; attempt += 1) {
			if (this.ended) throw new Error('the partition was given up');
			try {
				return await work();
			} catch (error) {
				if (this.interrupted) throw error;
				if (attempt === 0) this.parts.report(error, about);
				await Bun.sleep(PAUSES_MS[attempt] ?? PAUSES_MS[PAUSES_MS.length - 1] ?? 0);
			}
		}
	}
}
