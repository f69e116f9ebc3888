import type { Command } from '../../sequencer/commands.ts';
import type { ReadFact } from './facts.ts';

/** A command on its way, and where its outcome is awaited. */
export interface CommandEntry {
	readonly command: Command;
	readonly replyTo: {
		readonly gateway: string;
		readonly request: number;
		/** The gateway takes replies to several requests in one message; one of an older release does not. */
		readonly together?: true;
	};
}

/** Where the log keeps an entry. Offsets of a partition rise; there may be gaps between them. */
export interface LogPosition {
	/** Topic and number, as in `conversations/3`. */
	readonly partition: string;
	readonly offset: number;
}

export type LoggedCommand = CommandEntry & LogPosition;

/** Entries `from` (inclusive) to `to` (exclusive) of a partition. */
export interface LogSpan {
	readonly partition: string;
	readonly from: number;
	readonly to: number;
	/** Which log they are of, where logs have ids: one that was created again has another. */
	readonly log?: string;
}

/**
 * Whoever consumes partitions that come and go. That two own one at the same time cannot be ruled out (one may
 * not know yet that it lost it): whatever is written for a partition has to be fenced by its progress.
 */
export interface PartitionOwner {
	/** From which offset on the partition is to be consumed. Asked at each assignment. */
	progress(partition: string): Promise<number>;
	/** Which log that offset is of; null where it is not known. */
	log?(partition: string): Promise<string | null>;
	/** Consumption begins when this is settled. */
	onAssigned?(partitions: readonly string[]): Promise<void> | void;
	/** These will be revoked, when the batch under way is over: it should not be tried in vain. */
	onReleasing?(partitions: readonly string[]): void;
	/**
	 * No batch of these is under way, none will come. The next owner waits a while for this to be settled:
	 * write what is not written yet, then forget everything about them.
	 */
	onRevoked?(partitions: readonly string[]): Promise<void> | void;
}

/** What goes on with a consumer. */
export interface Consumption {
	/**
	 * What was made of the partition is void (a commit of it failed, another worker had it in between): it is
	 * revoked and, if it is still this consumer's, assigned again.
	 */
	restart(partition: string): void;
}

/**
 * Carries commands to the one worker that owns their conversation. Commands of one conversation are
 * consumed in the order they were appended.
 */
export interface CommandLog {
	/**
	 * Resolves when the log has it. Its outcome is sent to `replyTo` over the bus. Rejects with
	 * `service_unavailable` while the log cannot be reached, and with `outcome_unknown` where it does not confirm it.
	 */
	append(entry: CommandEntry): Promise<void>;
	/**
	 * One consumer a process. A batch is of one partition, and the next one of that partition comes when the
	 * promise for this one is settled; those of different partitions may be under way together. A batch whose
	 * promise rejects restarts its partition. Only a log that forgets what was consumed can do without an owner.
	 */
	consume(handler: CommandHandler, owner?: PartitionOwner): Consumption;
}

/** `span` begins where the one before ended; not every offset in it needs to have an entry. */
export type CommandHandler = (batch: readonly LoggedCommand[], span: LogSpan) => Promise<void>;

/** Makes marks durable. */
export interface MarkPersister {
	progress(partition: string): Promise<number>;
	/** Which log that offset is of; null where it is not known. */
	log?(partition: string): Promise<string | null>;
	/** Writes the facts and `span.to` together, if the progress still is `span.from`; rejects otherwise. */
	persist(facts: readonly ReadFact[], span: LogSpan): Promise<void>;
}

/** Carries what users did to their own read state, once it is applied, to where it is kept. In order per user. */
export interface MarkLog {
	/** Resolves when the log has all of them. */
	append(facts: readonly ReadFact[]): Promise<void>;
	/** One consumer a process. */
	consume(persister: MarkPersister): Consumption;
}
