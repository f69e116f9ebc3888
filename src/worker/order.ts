import type { LoggedCommand, LogSpan } from '../engine/ports/log.ts';
import type { Command } from '../sequencer/commands.ts';
import type { Decision } from '../sequencer/decide.ts';

/**
 * In which order the changes of a partition are applied, persisted and delivered. Everything before that is the same on every
 * engine: `Partition`. There are two orders: `PersistFirst`, where the store alone keeps a change, and `PersistBehind`, where the
 * log already has the command.
 */
export interface Order {
	/** Divides a batch into rows, and keeps their place in the order of the log. Called once for each batch, in that order. */
	rows(batch: readonly LoggedCommand[], span: LogSpan): readonly Row[];
	/** The command with the stamp that it takes effect at. */
	stamped(command: Command): Command;
	/** Loads what a decision needs: `work`, once or until it succeeds. */
	load<T>(command: Command, work: () => Promise<T>): Promise<T>;
	/**
	 * Applies, persists and delivers what was decided about a row. It is called in the turn in which the row's last command was
	 * decided. Resolves when the next row of the conversation may be decided.
	 */
	carryOut(row: Row, decisions: readonly Decision[]): Promise<CarriedOut>;
	/** The row could not be decided or carried out. Throws where the partition has to start over. */
	failed(row: Row, error: unknown): CarriedOut;
	/** Resolves when the next batch may be taken. `delivered` resolves when this one is. */
	taken(delivered: () => Promise<unknown>): Promise<void>;
	/** The store has everything of this conversation up to this stamp. */
	durable(conversation: string): number;
}

/** Commands of one conversation that are decided together, each on the state that the one before it made. */
export interface Row {
	readonly conversation: string;
	readonly entries: readonly LoggedCommand[];
}

export interface CarriedOut {
	/** Settled when events and replies are published; undefined: they are. */
	readonly delivered: Promise<void> | undefined;
}

export const DELIVERED: CarriedOut = { delivered: undefined };
