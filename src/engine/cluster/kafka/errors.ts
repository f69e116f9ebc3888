import { GenericError } from '@platformatic/kafka';
import { Refusal } from '../../../model/errors.ts';

/** What goes wrong with Kafka, as the rest of the server knows it. */

/** Kafka cannot be worked with; the message says why. */
export class KafkaUnusable extends Error {
	constructor(brokers: readonly string[], cause: unknown) {
		super(`Kafka cannot be used at ${brokers.join(', ')}: ${rootOf(cause)}`, { cause });
		this.name = 'KafkaUnusable';
	}
}

/** A partition is stalled: its next entry cannot be read here. The message says what an operator can do. */
export abstract class Unreadable extends Error {
	/** Whether it is over, where the partition can be read from this offset on, or was read up to there. */
	abstract isOverAt(offset: number): boolean;
}

/**
 * The store says to go on where Kafka has nothing: entries were removed before they were persisted, or the
 * topic is another one. Going on elsewhere would lose or repeat what was acknowledged, so a person decides.
 */
export class LogGap extends Unreadable {
	constructor(partition: string, wanted: number, first: number, end: number) {
		super(
			`${partition} must be read from offset ${wanted}, but Kafka holds ${first} to ${end}. ` +
				'Restore the topic, or set its row in partition_progress to the offset to resume from: tidemark doctor says which',
		);
		this.name = 'LogGap';
	}

	isOverAt(): boolean {
		return true;
	}
}

/** What was written down is of a topic that is not there any more. Its offsets say nothing about the one of now, so a person decides. */
export class TopicReplaced extends Unreadable {
	constructor(partition: string, known: string, now: string) {
		const topic = partition.slice(0, partition.lastIndexOf('/'));
		super(
			`${partition} was read from a topic with another id (${known}, now ${now}): ${topic} was deleted and created again, and ` +
				'entries that were only in the old one are lost. To read the new one from its beginning: stop the gateways, ' +
				`DELETE FROM partition_progress WHERE partition LIKE '${topic}/%', start the gateways`,
		);
		this.name = 'TopicReplaced';
	}

	isOverAt(): boolean {
		return true;
	}
}

/** An entry in an envelope that this release cannot open. */
export class UnknownVersion extends Error {
	constructor(
		readonly version: number,
		readonly known: number,
	) {
		super(`version ${version} of an entry is not known here`);
		this.name = 'UnknownVersion';
	}
}

/**
 * What comes next was written by another release, and was acknowledged. Passing over it would lose it, so the partition
 * is stalled until a worker that can read it owns it.
 */
export class EntryOfOtherRelease extends Unreadable {
	constructor(
		partition: string,
		private readonly offset: number,
		{ version, known }: UnknownVersion,
	) {
		super(
			`entry ${offset} of ${partition} has version ${version}, and this release reads ${known}: another release of Tidemark ` +
				'wrote it. The partition is stalled until a worker of that release, or a later one, owns it: upgrade this worker',
		);
		this.name = 'EntryOfOtherRelease';
	}

	/** That reading begins there again says nothing: it will come upon the entry. */
	isOverAt(offset: number): boolean {
		return offset > this.offset;
	}
}

export const logUnavailable = (): Refusal =>
	new Refusal('service_unavailable', 'the log is not reachable', 1);

export const unconfirmed = (): Refusal =>
	new Refusal('outcome_unknown', 'the log did not confirm it; it may still happen');

/** The client wraps what happened in what it was doing, several times over: the innermost is the reason. */
export function rootOf(error: unknown): string {
	if (error instanceof AggregateError && error.errors.length > 0) return rootOf(error.errors.at(-1));
	if (error instanceof Error && error.cause !== undefined) return rootOf(error.cause);
	return error instanceof Error ? error.message : String(error);
}

/**
 * As it is to be logged: of what the client throws the reason alone, since all that it wraps around that makes tens of
 * kilobytes. What is not the client's stays as it is, with its stack.
 */
export function inShort(error: unknown): unknown {
	if (!(error instanceof Error) || !GenericError.isGenericError(error as GenericError)) return error;
	const short = new Error(rootOf(error));
	short.name = 'KafkaError';
	short.stack = `${short}`;
	return short;
}
