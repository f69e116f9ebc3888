import { Refusal } from '../../../model/errors.ts';

/** What goes wrong with Kafka, as the rest of the server knows it. */

/** Kafka cannot be worked with; the message says why. */
export class KafkaUnusable extends Error {
	constructor(brokers: readonly string[], cause: unknown) {
		super(`Kafka cannot be used at ${brokers.join(', ')}: ${rootOf(cause)}`, { cause });
		this.name = 'KafkaUnusable';
	}
}

/**
 * The store says to go on where Kafka has nothing: entries were removed before they were persisted, or the
 * topic is another one. Going on elsewhere would lose or repeat what was acknowledged, so a person decides.
 */
export class LogGap extends Error {
	constructor(partition: string, wanted: number, first: number, end: number) {
		super(
			`${partition} is to be read from offset ${wanted}, but Kafka holds ${first} up to ${end}. ` +
				'Restore the topic, or set its row in partition_progress to where it shall go on',
		);
		this.name = 'LogGap';
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
 * stands still until somebody reads it who can.
 */
export class EntryOfOtherRelease extends Error {
	constructor(partition: string, offset: number, { version, known }: UnknownVersion) {
		super(
			`entry ${offset} of ${partition} has version ${version}, and this release reads ${known}: another release of Tidemark ` +
				'wrote it. The partition stands still until a worker of that release, or of a later one, has it: replace this one',
		);
		this.name = 'EntryOfOtherRelease';
	}
}

export const away = (): Refusal => new Refusal('service_unavailable', 'the log is not reachable', 1);

export const unconfirmed = (): Refusal =>
	new Refusal('outcome_unknown', 'the log did not confirm it; it may still take place');

/** The client wraps what happened in what it was doing, several times over: the innermost is the reason. */
export function rootOf(error: unknown): string {
	if (error instanceof AggregateError && error.errors.length > 0) return rootOf(error.errors.at(-1));
	if (error instanceof Error && error.cause !== undefined) return rootOf(error.cause);
	return error instanceof Error ? error.message : String(error);
}
