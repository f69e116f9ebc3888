import type { Bus } from '../engine/ports/bus.ts';
import type { CommandEntry, LoggedCommand } from '../engine/ports/log.ts';
import type { Ledger } from '../engine/ports/store.ts';
import type { Clock } from '../model/ts.ts';
import type { Command } from '../sequencer/commands.ts';
import type { Decision } from '../sequencer/decide.ts';
import type { ReadState } from '../unread/read-state.ts';
import { deliver } from './delivery.ts';
import { type CarriedOut, DELIVERED, type Order, type Row } from './order.ts';
import type { Replies } from './replies.ts';

/**
 * apply → persist → deliver → reply: nothing is published before it is on disk. The order of one process, whose log is its memory: a
 * command that fails leaves no trace, so it is rejected, never retried.
 *
 * A command is stamped, decided, applied and handed to the ledger in one turn, so stamps, state and commits have one order; that is why
 * a row is one command. While a commit is under way the next commands are decided on the state that the earlier ones made, so a slow
 * disk costs latency, not throughput.
 */

export interface PersistFirstParts {
	readonly readState: Pick<ReadState, 'apply'>;
	readonly ledger: Ledger;
	readonly bus: Pick<Bus, 'publish'>;
	readonly replies: Replies;
	readonly clock: Clock;
}

interface SingleRow extends Row {
	readonly entries: readonly [LoggedCommand];
}

export class PersistFirst implements Order {
	constructor(private readonly parts: PersistFirstParts) {}

	rows(batch: readonly LoggedCommand[]): readonly SingleRow[] {
		return batch.map((entry) => ({ conversation: entry.command.conversation, entries: [entry] }));
	}

	stamped(command: Command): Command {
		return { ...command, at: this.parts.clock.next() };
	}

	load<T>(_: Command, work: () => Promise<T>): Promise<T> {
		return work();
	}

	async carryOut({ entries: [entry] }: SingleRow, [decision]: readonly [Decision]): Promise<CarriedOut> {
		const { readState, ledger } = this.parts;
		const { effects } = decision;
		// It may rest on what is not on disk yet: a repeated send is answered when the first one is.
		if (effects.length === 0) return this.after(ledger.settled(), entry, decision);
		return readState.apply(effects, (moved) =>
			this.after(ledger.commit([...effects, ...moved]), entry, decision),
		);
	}

	failed({ entries }: Row, error: unknown): CarriedOut {
		for (const entry of entries) this.parts.replies.fail(entry, error);
		return DELIVERED;
	}

	/** At once: what comes while a commit is under way forms the next one. */
	async taken(): Promise<void> {}

	durable(): number {
		return this.parts.ledger.durable();
	}

	/** Hung directly on the ledger's promise: commits resolve in order, so events go out in order. */
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
