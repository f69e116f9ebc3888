import type { Bus } from '../engine/ports/bus.ts';
import type { CommandEntry, LoggedCommand } from '../engine/ports/log.ts';
import type { Ledger } from '../engine/ports/store.ts';
import type { Clock } from '../model/ts.ts';
import type { Command } from '../sequencer/commands.ts';
import type { Decision } from '../sequencer/decide.ts';
import type { ReadState } from '../unread/read-state.ts';
import { deliver } from './delivery.ts';
import { type CarriedOut, type CommandGroup, DELIVERED, type Order } from './order.ts';
import type { Replies } from './replies.ts';

/**
 * apply → persist → deliver → reply: nothing is published before it is durable. The order of the embedded engine, whose log is in
 * memory: a command that fails leaves no trace, so it is rejected and never retried.
 *
 * A command is stamped, decided, applied and passed to the ledger without an await, so stamps, state and commits have the same
 * order; therefore a group has one command. While a commit runs, the next commands are decided on a state that includes the
 * uncommitted changes, so a slow disk costs latency, not throughput.
 */

export interface PersistFirstParts {
	readonly readState: Pick<ReadState, 'apply'>;
	readonly ledger: Ledger;
	readonly bus: Pick<Bus, 'publish'>;
	readonly replies: Replies;
	readonly clock: Clock;
}

interface SingleCommand extends CommandGroup {
	readonly entries: readonly [LoggedCommand];
}

export class PersistFirst implements Order {
	constructor(private readonly parts: PersistFirstParts) {}

	groups(batch: readonly LoggedCommand[]): readonly SingleCommand[] {
		return batch.map((entry) => ({ conversation: entry.command.conversation, entries: [entry] }));
	}

	stamped(command: Command): Command {
		return { ...command, at: this.parts.clock.next() };
	}

	load<T>(_: Command, work: () => Promise<T>): Promise<T> {
		return work();
	}

	async carryOut({ entries: [entry] }: SingleCommand, [decision]: readonly [Decision]): Promise<CarriedOut> {
		const { readState, ledger } = this.parts;
		const { effects } = decision;
		// The decision may depend on effects that are not durable yet: a repeated send is answered when the first one is durable.
		if (effects.length === 0) return this.after(ledger.flushed(), entry, decision);
		return readState.apply(effects, (moved) =>
			this.after(ledger.commit([...effects, ...moved]), entry, decision),
		);
	}

	failed({ entries }: CommandGroup, error: unknown): CarriedOut {
		for (const entry of entries) this.parts.replies.fail(entry, error);
		return DELIVERED;
	}

	/** Resolves at once: commands that arrive during a commit are part of the next commit. */
	async readyForNext(): Promise<void> {}

	durable(): number {
		return this.parts.ledger.durable();
	}

	/** Chained directly to the ledger's promise: commits resolve in order, so events are published in order. */
	private after(durable: Promise<void>, entry: CommandEntry, { outcome, effects }: Decision): CarriedOut {
		const { bus, replies } = this.parts;
		const delivered = durable.then(
			() => {
				for (const effect of effects) deliver(effect, bus);
				replies.reply(entry, outcome);
			},
			(error) => replies.fail(entry, error),
		);
		return { delivered };
	}
}
