import type { Bus } from '../engine/ports/bus.ts';
import type { CommandRecord, LoggedCommand } from '../engine/ports/log.ts';
import type { Ledger } from '../engine/ports/store.ts';
import type { Views } from '../engine/ports/views.ts';
import type { Clock } from '../model/ts.ts';
import type { Command } from '../sequencer/commands.ts';
import type { Decision } from '../sequencer/decide.ts';
import { type CommandGroup, type EffectPipeline, type ExecutedGroup, PUBLISHED } from './effect-pipeline.ts';
import { publishEvents } from './publish-events.ts';
import type { Replies } from './replies.ts';

/**
 * The pipeline of the embedded engine: apply → persist → publish → reply. Nothing is published before it is durable. The log is in
 * memory: a command that fails leaves no trace, so it is rejected and never retried.
 *
 * A command is stamped, decided, applied and passed to the ledger without an await, so stamps, state and commits have the same
 * order; therefore a group has one command. While a commit runs, the next commands are decided on a state that includes the
 * uncommitted changes, so a slow disk costs latency, not throughput.
 */

export interface PersistFirstParts {
	readonly views: Pick<Views, 'apply'>;
	readonly ledger: Ledger;
	readonly bus: Pick<Bus, 'publish'>;
	readonly replies: Replies;
	readonly clock: Clock;
}

interface SingleCommand extends CommandGroup {
	readonly commands: readonly [LoggedCommand];
}

export class PersistFirst implements EffectPipeline {
	constructor(private readonly parts: PersistFirstParts) {}

	groups(batch: readonly LoggedCommand[]): readonly SingleCommand[] {
		return batch.map((record) => ({ conversation: record.command.conversation, commands: [record] }));
	}

	stamped(command: Command): Command {
		return { ...command, at: this.parts.clock.next() };
	}

	load<T>(_: Command, work: () => Promise<T>): Promise<T> {
		return work();
	}

	execute({ commands: [record] }: SingleCommand, [decision]: readonly [Decision]): Promise<ExecutedGroup> {
		const { views, ledger } = this.parts;
		const { effects } = decision;
		// The decision may depend on effects that are not durable yet: a repeated send is answered when the first one is durable.
		if (effects.length === 0) return Promise.resolve(this.after(ledger.flushed(), record, decision));
		return views.apply(effects, ledger.durable(), (moved) =>
			this.after(ledger.commit([...effects, ...moved]), record, decision),
		);
	}

	failed({ commands }: CommandGroup, error: unknown): ExecutedGroup {
		for (const record of commands) this.parts.replies.fail(record, error);
		return PUBLISHED;
	}

	/** Resolves at once: commands that arrive during a commit are part of the next commit. */
	async readyForNext(): Promise<void> {}

	durable(): number {
		return this.parts.ledger.durable();
	}

	/** Chained directly to the ledger's promise: commits resolve in order, so events are published in order. */
	private after(
		durable: Promise<void>,
		record: CommandRecord,
		{ outcome, effects }: Decision,
	): ExecutedGroup {
		const { bus, replies } = this.parts;
		const published = durable.then(
			() => {
				for (const effect of effects) publishEvents(effect, bus);
				replies.reply(record, outcome);
			},
			(error) => replies.fail(record, error),
		);
		return { published };
	}
}
