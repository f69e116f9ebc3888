import type { Command } from '../../sequencer/commands.ts';

/** A command on its way, and where its outcome is awaited. */
export interface CommandEntry {
	readonly command: Command;
	readonly replyTo: { readonly gateway: string; readonly request: number };
}

/**
 * Carries commands to the one worker that owns their conversation. Commands of one conversation are
 * consumed in the order they were appended.
 */
export interface CommandLog {
	/** Resolves when the log has it. What came of it is told to `replyTo`, over the bus. */
	append(entry: CommandEntry): Promise<void>;
	/** One consumer a process. The next batch comes when the promise for this one is settled. */
	consume(handler: (batch: readonly CommandEntry[]) => Promise<void>): void;
}
