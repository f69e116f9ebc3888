import type { Command } from '../../sequencer/commands.ts';
import type { ReadFact } from './facts.ts';

/** A command as the log stores it, and where to send its outcome. */
export interface CommandRecord {
	readonly command: Command;
	readonly replyTo: {
		readonly gateway: string;
		readonly request: number;
		/** The gateway accepts replies to several requests in one message; gateways of an older release do not. */
		readonly together?: true;
	};
}

/** A command that was read from the log. Offsets of a partition rise, possibly with gaps. */
export interface LoggedCommand extends CommandRecord {
	/** Topic and number, as in `conversations/3`. */
	readonly partition: string;
	readonly offset: number;
}

/** The records `from` (inclusive) to `to` (exclusive) of a partition. */
export interface LogSpan {
	readonly partition: string;
	readonly from: number;
	readonly to: number;
	/** Id of the log, if logs have ids: a Kafka topic that was created again has a new id. */
	readonly logId?: string;
}

/**
 * A consumer of partitions that are assigned and revoked. Two processes may own a partition at the same time for a while, because one
 * of them does not know yet that it lost the partition. So a write for a partition must succeed only if
 * the stored offset of the partition is the expected one.
 */
export interface PartitionOwner {
	/** The offset to consume the partition from. Called at each assignment. */
	progress(partition: string): Promise<number>;
	/** Id of the log that the offset belongs to; null if unknown. */
	logId?(partition: string): Promise<string | null>;
	/** Consumption starts when the promise settles. */
	onAssigned?(partitions: readonly string[]): Promise<void> | void;
	/** These partitions are revoked after the current batch. The batch should fail instead of retrying, so that the revocation is fast. */
	onReleasing?(partitions: readonly string[]): void;
	/**
	 * No batch of these partitions is running, and none will follow. The next owner waits a while for the promise:
	 * persist pending effects, then drop all state of the partitions.
	 */
	onRevoked?(partitions: readonly string[]): Promise<void> | void;
}

/** Controls a running consumer. */
export interface Consumption {
	/**
	 * Discards the state of the partition, because a commit failed or another worker owned it in between: the partition is
	 * revoked and, if it still belongs to this consumer, assigned again.
	 */
	restart(partition: string): void;
}

/**
 * Carries commands to the one worker that owns their conversation. Commands of one conversation are
 * consumed in the order they were appended.
 */
export interface CommandLog {
	/**
	 * Resolves when the log has the command; the outcome is sent to `replyTo` over the bus. Rejects with
	 * `service_unavailable` if the log is unreachable, and with `outcome_unknown` if it does not confirm the append.
	 */
	append(record: CommandRecord): Promise<void>;
	/**
	 * One consumer per process. A batch belongs to one partition; the next batch of that partition comes when the promise of this one
	 * settles, while batches of other partitions can run concurrently. If the promise rejects, the partition
	 * is restarted. The owner is optional only for a log that drops consumed commands.
	 */
	consume(handler: CommandHandler, owner?: PartitionOwner): Consumption;
}

/** `span` begins where the previous one ended; offsets in it can be missing. */
export type CommandHandler = (batch: readonly LoggedCommand[], span: LogSpan) => Promise<void>;

/** Persists marks. */
export interface MarkPersister {
	progress(partition: string): Promise<number>;
	/** Id of the log that the offset belongs to; null if unknown. */
	logId?(partition: string): Promise<string | null>;
	/** Writes the facts and `span.to` atomically, if the progress is still `span.from`; rejects otherwise. */
	persist(facts: readonly ReadFact[], span: LogSpan): Promise<void>;
	/** No batch of these partitions is running, and none will follow. */
	onRevoked?(partitions: readonly string[]): void;
}

/** Carries applied changes of users' read state to the store, in order per user. */
export interface MarkLog {
	/** Resolves when the log has all of them. */
	append(facts: readonly ReadFact[]): Promise<void>;
	/** One consumer per process. */
	consume(persister: MarkPersister): Consumption;
}

/** The commands of the partition will be decided again: this worker must discard its work. */
export abstract class WorkDiscarded extends Error {
	/** For the log line, after the error's message: what happens next, and what the operator should do. */
	abstract readonly advice: string;
}

/** Another worker owns the partition, or soon will, and decides the same commands again. */
export abstract class OwnerChanged extends WorkDiscarded {
	readonly advice = 'Nothing is lost: the new owner of the partition processes the commands again.';
}

/** The partition is being reassigned: this worker must not decide any more of its commands. */
export class Released extends OwnerChanged {
	constructor() {
		super('the partition was released');
		this.name = 'Released';
	}
}
