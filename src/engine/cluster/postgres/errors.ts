import { createConnection } from 'node:net';
import { messageOfError } from '../../../model/errors.ts';
import { OwnerChanged } from '../../ports/log.ts';

/**
 * Kinds of PostgreSQL failures: it is unavailable (retry later), two
 * transactions conflicted (retry at once), or it rejects the work (never retry).
 */

/** Another worker owns the partition: this worker must not write to it any more. */
export class Fenced extends OwnerChanged {
	constructor(
		readonly partition: string,
		readonly expected: number,
	) {
		super(`partition ${partition} is no longer at offset ${expected}: another worker has written to it`);
		this.name = 'Fenced';
	}
}

/** The connection was lost during a commit: the transaction may have been committed or not. */
export class OutcomeUnknown extends Error {
	constructor(cause: unknown) {
		super(`the connection was lost during the commit: ${messageOfError(cause)}`, { cause });
		this.name = 'OutcomeUnknown';
	}
}

/** The database cannot be used; the message says why, and names its address. */
export class PostgresUnusable extends Error {
	constructor(
		readonly reason: string,
		cause?: unknown,
		address?: string,
	) {
		super(`PostgreSQL cannot be used${address === undefined ? '' : ` at ${address}`}: ${reason}`, { cause });
		this.name = 'PostgresUnusable';
	}
}

/** An error that names the database in the url, without its password. */
export async function unusable(url: string, error: unknown): Promise<PostgresUnusable> {
	const { hostname, port, pathname } = new URL(url);
	const address = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 5432) };
	// Bun reports an unknown host or a closed port like other failures.
	const unreached = textOf(error, 'code') === 'ERR_POSTGRES_CONNECTION_REFUSED';
	const reason = (unreached ? await whyUnreached(address) : null) ?? reasonOf(error);
	return new PostgresUnusable(reason, error, `${hostname}:${address.port}${pathname}`);
}

const reasonOf = (error: unknown): string =>
	error instanceof PostgresUnusable ? error.reason : messageOfError(error);

const CONNECT_WITHIN_MS = 3_000;

/** Null if it is reachable now. */
function whyUnreached(address: { readonly host: string; readonly port: number }): Promise<string | null> {
	return new Promise((resolve) => {
		const socket = createConnection({ ...address, timeout: CONNECT_WITHIN_MS });
		const end = (why: string | null): void => {
			socket.destroy();
			resolve(why);
		};
		socket.once('connect', () => end(null));
		socket.once('timeout', () => end(`no answer within ${CONNECT_WITHIN_MS} ms`));
		socket.once('error', ({ message }) => end(message));
	});
}

export type FailureKind = 'unavailable' | 'conflict' | 'rejected';

/**
 * SQLSTATE codes: connection exceptions, idle-in-transaction timeout, too many connections, no disk or memory, object in use,
 * cancelled or shutting down, I/O and internal errors. None of them depends on the data to write.
 */
const UNAVAILABLE = /^(08|25P03|53|55|57|58|XX)/;
/** Codes of a server that accepts no writes, or none of this user, until an operator acts; with advice. */
const REJECTS_WRITES: ReadonlyMap<string, string> = new Map([
	['25006', 'make it writable, or set TIDEMARK_POSTGRES_URL to the primary'],
	['42501', 'grant the user in TIDEMARK_POSTGRES_URL the right to write to the tables'],
]);
/** Serialisation failure and deadlock: rolled back in favour of another transaction. */
const CONFLICT = /^40/;

const textOf = (error: unknown, name: 'code' | 'errno'): string => {
	const value = typeof error === 'object' && error !== null ? Reflect.get(error, name) : undefined;
	return typeof value === 'string' ? value : '';
};

export function failureKindOf(error: unknown): FailureKind {
	if (error instanceof OutcomeUnknown) return 'unavailable';
	const state = textOf(error, 'errno');
	if (UNAVAILABLE.test(state) || REJECTS_WRITES.has(state)) return 'unavailable';
	if (CONFLICT.test(state)) return 'conflict';
	if (state !== '') return 'rejected';
	// Bun's own codes: the connection was refused, closed, timed out, or broke off during an answer.
	const code = textOf(error, 'code');
	if (code.startsWith('ERR_POSTGRES_') && !code.endsWith('SERVER_ERROR')) return 'unavailable';
	return /^(ECONN|EPIPE|ETIMEDOUT|EHOST|ENET|ENOTFOUND|EAI_)/.test(code) ? 'unavailable' : 'rejected';
}

/** The error behind an `OutcomeUnknown`; any other error unchanged. */
const serverErrorOf = (error: unknown): unknown => (error instanceof OutcomeUnknown ? error.cause : error);

/** Whether the server accepts no writes on this connection. A new one may reach a server that does, or have other settings. */
export const rejectsWrites = (error: unknown): boolean =>
	REJECTS_WRITES.has(textOf(serverErrorOf(error), 'errno'));

/** The error for the operator, with advice if known. */
export function explained(error: unknown): Error {
	const cause = serverErrorOf(error);
	const state = textOf(cause, 'errno');
	const advice = REJECTS_WRITES.get(state);
	if (advice !== undefined)
		return new Error(`it rejects writes (${messageOfError(cause)}, ${state}): ${advice}`);
	return error instanceof Error ? error : new Error(messageOfError(error));
}
