import type { LoggedCommand, LogSpan } from '../engine/ports/log.ts';
import type { Command } from '../sequencer/commands.ts';
import type { Decision } from '../sequencer/decide.ts';

/**
 * Applies, persists and publishes the effects of a partition, in the order that the engine needs; partition.ts loads and decides in the
 * same way for every engine. `PersistFirst` is for an engine where a change is durable only once the store has it, `PersistBehind` for
 * an engine whose log already makes the command durable.
 */
export interface EffectPipeline {
	/** Splits a batch into groups and reserves their places in log order. Called once per batch, in log order. */
	groups(batch: readonly LoggedCommand[], span: LogSpan): readonly CommandGroup[];
	/** The command with the time to stamp it with: the sequencer may choose a later stamp (`stampOf`). */
	stamped(command: Command): Command;
	/** Runs `work`, which loads the state that a decision needs: once, or again until it succeeds. */
	load<T>(command: Command, work: () => Promise<T>): Promise<T>;
	/**
	 * Applies, persists and publishes the decisions of a group. Called without an await after the last command of the group was
	 * decided. Resolves when the next group of the conversation may be decided.
	 */
	execute(group: CommandGroup, decisions: readonly Decision[]): Promise<ExecutedGroup>;
	/** The group could not be decided or executed. Throws if the partition has to be restarted. */
	failed(group: CommandGroup, error: unknown): ExecutedGroup;
	/**
	 * Resolves when the next batch may be taken. `published` waits until the groups of this batch are published, except those that queue
	 * behind an earlier group of their conversation.
	 */
	readyForNext(published: () => Promise<unknown>): Promise<void>;
	/** The stamp up to which the executed groups of the conversation are durable. */
	durable(conversation: string): number;
}

/** Commands of one conversation that are decided together, one after the other. */
export interface CommandGroup {
	readonly conversation: string;
	readonly commands: readonly LoggedCommand[];
}

export interface ExecutedGroup {
	/** Settles when events and replies are published; undefined: they already are. */
	readonly published: Promise<void> | undefined;
}

export const PUBLISHED: ExecutedGroup = { published: undefined };
