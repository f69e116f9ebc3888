import type { LoggedCommand, LogSpan } from '../engine/ports/log.ts';
import type { Command } from '../sequencer/commands.ts';
import type { Decision } from '../sequencer/decide.ts';

/**
 * The order in which the effects of a partition are applied, persisted and delivered. Loading and deciding are the same on every engine
 * (partition.ts). `PersistFirst` is for an engine where a change is safe only once the store has it; `PersistBehind` is for an engine
 * where the log already has the command.
 */
export interface Order {
	/** Splits a batch into groups and reserves their places in log order. Called once per batch, in log order. */
	groups(batch: readonly LoggedCommand[], span: LogSpan): readonly CommandGroup[];
	/** The command with its final stamp. */
	stamped(command: Command): Command;
	/** Runs `work`, which loads the state that a decision needs: once, or again until it succeeds. */
	load<T>(command: Command, work: () => Promise<T>): Promise<T>;
	/**
	 * Applies, persists and delivers the decisions of a group. Called without an await after the last command of the group was
	 * decided. Resolves when the next group of the conversation may be decided.
	 */
	carryOut(group: CommandGroup, decisions: readonly Decision[]): Promise<CarriedOut>;
	/** The group could not be decided or carried out. Throws if the partition has to be restarted. */
	failed(group: CommandGroup, error: unknown): CarriedOut;
	/** Resolves when the next batch may be taken. `delivered` resolves when this one is delivered. */
	readyForNext(delivered: () => Promise<unknown>): Promise<void>;
	/** The stamp up to which the conversation is durable. */
	durable(conversation: string): number;
}

/** Commands of one conversation that are decided together, one after the other. */
export interface CommandGroup {
	readonly conversation: string;
	readonly entries: readonly LoggedCommand[];
}

export interface CarriedOut {
	/** Settles when events and replies are published; undefined: they already are. */
	readonly delivered: Promise<void> | undefined;
}

export const DELIVERED: CarriedOut = { delivered: undefined };
