import { GenericError } from '@platformatic/kafka';
import { messageOfError, Rejection } from '../../../model/errors.ts';

/** Errors of Kafka, as the rest of the server sees them. */

/** Kafka cannot be used; the message says why. */
export class KafkaUnusable extends Error {
	constructor(brokers: readonly string[], cause: unknown) {
		super(`Kafka cannot be used at ${brokers.join(', ')}: ${innermostReason(cause)}`, { cause });
		this.name = 'KafkaUnusable';
	}
}

/** A partition is stalled: its next record cannot be read here. The message says what an operator can do. */
export abstract class Unreadable extends Error {
	/** Whether the stall ends once the reader has reached this offset. */
	abstract isOverAt(offset: number): boolean;
}

/**
 * Kafka does not have the offset that the store wants to resume from: records were deleted before they were persisted, or the
 * topic was replaced. Resuming elsewhere could lose or repeat acknowledged changes, so an operator has to decide.
 */
export class LogGap extends Unreadable {
	constructor(partition: string, wanted: number, first: number, end: number) {
		super(
			`${partition} must be read from offset ${wanted}, but Kafka holds ${first} to ${end}. ` +
				'Run `tidemark doctor`: it says what happened and what to do',
		);
		this.name = 'LogGap';
	}

	isOverAt(): boolean {
		return true;
	}
}

/** The stored offset belongs to a topic that no longer exists and means nothing in the new one, so an operator has to decide. */
export class TopicReplaced extends Unreadable {
	constructor(partition: string, known: string, now: string) {
		const topic = partition.slice(0, partition.lastIndexOf('/'));
		super(
			`${partition} was read from a topic with another id (${known}, now ${now}): ${topic} was deleted and created again, and ` +
				'log records that were only in the old one are lost. `tidemark doctor` says how to read the new one from its beginning',
		);
		this.name = 'TopicReplaced';
	}

	isOverAt(): boolean {
		return true;
	}
}

/** A record whose version this release cannot read. */
export class UnknownVersion extends Error {
	constructor(
		readonly version: number,
		readonly known: number,
	) {
		super(`this release cannot read version ${version} of a log record`);
		this.name = 'UnknownVersion';
	}
}

/**
 * The next record was written by another release, and was acknowledged. Skipping it would lose it, so the partition
 * is stalled until a worker that can read it owns it.
 */
export class RecordOfOtherVersion extends Unreadable {
	constructor(
		partition: string,
		private readonly offset: number,
		{ version, known }: UnknownVersion,
	) {
		super(
			`log record ${offset} of ${partition} has version ${version}, and this release reads ${known}: another release of Tidemark ` +
				'wrote it. The partition is stalled until a worker of that release, or a later one, owns it: upgrade this worker',
		);
		this.name = 'RecordOfOtherVersion';
	}

	/** Resuming at the record is not enough: the reader would reach it again. */
	isOverAt(offset: number): boolean {
		return offset > this.offset;
	}
}

/** `cause`: the error of the Kafka client, for the process's own log. */
export const logUnavailable = (cause?: unknown): Rejection =>
	new Rejection(
		'service_unavailable',
		'the log is unreachable',
		1,
		cause === undefined ? undefined : new Error(innermostReason(cause)),
	);

export const unconfirmed = (): Rejection =>
	new Rejection('outcome_unknown', 'the log did not confirm the command; the change may still happen');

/** The client wraps errors several times; the innermost one is the reason. */
export function innermostReason(error: unknown): string {
	if (error instanceof AggregateError && error.errors.length > 0) return innermostReason(error.errors.at(-1));
	if (error instanceof Error && error.cause !== undefined) return innermostReason(error.cause);
	return messageOfError(error);
}

/**
 * The error to write to the process's own log. An error of the Kafka client is reduced to its reason, because its wrappers take tens of
 * kilobytes. Other errors are returned unchanged, with their stack.
 */
export function withoutWrappers(error: unknown): unknown {
	if (!(error instanceof Error) || !GenericError.isGenericError(error as GenericError)) return error;
	const short = new Error(innermostReason(error));
	short.name = 'KafkaError';
	short.stack = `${short}`;
	return short;
}
