import type { ReadFact } from '../../ports/facts.ts';
import type { CommandRecord } from '../../ports/log.ts';
import { UnknownVersion } from './errors.ts';

/**
 * Records in Kafka: JSON in an envelope with a version, so that a worker recognises a record that it cannot read and leaves
 * it to a worker of another release.
 */

const VERSION = 1;

const encode = (body: unknown): string => JSON.stringify({ v: VERSION, body });

function decode(value: Buffer): Record<string, unknown> {
	const { v, body } = JSON.parse(value.toString()) as { v?: unknown; body?: unknown };
	if (typeof v !== 'number') throw new Error('the log record has no version');
	if (v !== VERSION) throw new UnknownVersion(v, VERSION);
	if (typeof body !== 'object' || body === null) throw new Error('the log record has no body');
	return body as Record<string, unknown>;
}

export const encodeCommand = ({ command, replyTo }: CommandRecord): string => encode({ command, replyTo });

export function decodeCommand(value: Buffer): CommandRecord {
	const body = decode(value);
	if (typeof body.command !== 'object' || typeof body.replyTo !== 'object')
		throw new Error('the log record is not a command');
	return body as unknown as CommandRecord;
}

export const encodeFact = (fact: ReadFact): string => encode(fact);

export function decodeFact(value: Buffer): ReadFact {
	const body = decode(value);
	if (typeof body.type !== 'string' || typeof body.user !== 'string')
		throw new Error('the log record is not a fact of a user');
	return body as unknown as ReadFact;
}
