import type { Bus } from '../engine/ports/bus.ts';
import type { CommandEntry, CommandLog } from '../engine/ports/log.ts';
import type { Ledger } from '../engine/ports/store.ts';
import type { Command, Outcome } from '../sequencer/commands.ts';
import { sequence } from '../sequencer/decide.ts';
import type { Effect } from '../sequencer/effects.ts';
import type { ConversationState } from '../sequencer/state.ts';
import type { ReadState } from '../unread/read-state.ts';
import type { Conversations } from './conversations.ts';
import { deliver } from './delivery.ts';
import { ageMs } from './lag.ts';
import { Lanes } from './lanes.ts';
import { Replies } from './replies.ts';

/**
 * The owner of conversations: consume → sequence → apply → persist → deliver → reply. The commands of one conversation
 * run one after the other, in the order of the log; one that waits for its conversation to be loaded delays no other.
 *
 * The worker of the one process there is. Persistence leads: nobody hears of a change before it is on disk. While one commit is under way the next
 * commands are decided on the state that the earlier ones made, so a slow disk costs time, not throughput.
 */

export interface WorkerParts {
	readonly log: CommandLog;
	readonly conversations: Conversations;
	readonly readState: ReadState;
	readonly ledger: Ledger;
	readonly bus: Bus;
	/** When a command takes place: its own clock, or that of the one process there is. */
	readonly stampOf: (command: Command) => number;
	readonly nowMs: () => number;
	readonly report: (error: unknown, about: string) => void;
}

export class Worker {
	/** Rises when everything in memory was dropped: what was read before that must not be decided on. */
	private epoch = 0;

	private lag = 0;
	private readonly replies: Replies;
	private readonly lanes = new Lanes<CommandEntry>((entry) => this.run(entry));

	constructor(private readonly parts: WorkerParts) {
		this.replies = new Replies(parts.bus, parts.report);
	}

	start(): void {
		this.parts.log.consume((batch) => this.process(batch));
	}

	/** A commit failed: what was decided since is void, and state comes back from the store. */
	reset(): void {
		this.epoch += 1;
		this.parts.conversations.clear();
	}

	/** Age of the newest command when it was decided; ms. */
	lagMs(): number {
		return this.lag;
	}

	private async process(batch: readonly CommandEntry[]): Promise<void> {
		this.lag = ageMs(batch, this.parts.nowMs());
		for (const entry of batch) this.lanes.add(entry.command.conversation, entry);
	}

	private async run(entry: CommandEntry): Promise<void> {
		try {
			await this.step(entry);
		} catch (error) {
			this.replies.fail(entry, error);
		}
	}

	private async step(entry: CommandEntry): Promise<void> {
		const { conversations, readState, ledger, stampOf } = this.parts;
		let state: ConversationState;
		let epoch: number;
		do {
			epoch = this.epoch;
			await readState.prepare(entry.command);
			state = await conversations.ready(entry.command);
		} while (epoch !== this.epoch);
		// From here to the commit in one turn: stamps, state and ledger keep one order.
		const command = { ...entry.command, at: stampOf(entry.command) };
		const { outcome, effects } = sequence(state, command);
		if (effects.length === 0) {
			// It may rest on what is not on disk yet: a repeated send is answered when the first one is.
			this.after(ledger.settled(), entry, outcome, effects);
			return;
		}
		await readState.apply(effects, (moved) => {
			this.after(ledger.commit([...effects, ...moved]), entry, outcome, effects);
			conversations.turn(command.conversation, ledger.durable());
		});
	}

	/** Hung directly on the ledger's promise: commits resolve in order, so events go out in order. */
	private after(
		durable: Promise<void>,
		entry: CommandEntry,
		outcome: Outcome,
		effects: readonly Effect[],
	): void {
		durable.then(
			() => {
				for (const effect of effects) deliver(effect, this.parts.bus);
				this.replies.reply(entry, outcome);
			},
			(error) => this.replies.fail(entry, error),
		);
	}
}
