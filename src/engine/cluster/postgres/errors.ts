import { createConnection } from 'node:net';
import { TakenOver } from '../../ports/taken-over.ts';

/**
 * Kinds of PostgreSQL failures: it is unavailable (retry later), two
 * transactions got into each other's way (try again at once), or it refuses the work (never try again).
 */

/** Another worker has taken the partition over: this one must not write to it any more. */
export class Fenced extends TakenOver {
	constructor(
		readonly partition: string,
		readonly expected: number,
	) {
		super(`partition ${partition} is no longer at offset ${expected}: another worker writes it now`);
		this.name = 'Fenced';
	}
}

/** The connection was lost while a transaction was being committed: it may have been, or not. */
export class OutcomeUnknown extends Error {
	constructor(
		readonly transaction: string,
		cause: unknown,
	) {
		super('the connection was lost during the commit', { cause });
		this.name = 'OutcomeUnknown';
	}
}

/** The database cannot be worked with; the message says why, and where it was looked for. */
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

/** That this failed at the database which the url names, without the password that it may hold. */
export async function unusable(url: string, error: unknown): Promise<PostgresUnusable> {
	const { hostname, port, pathname } = new URL(url);
	const address = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 5432) };
	// Bun does not distinguish an unknown host or a closed port from other failures.
	const unreached = textOf(error, 'code') === 'ERR_POSTGRES_CONNECTION_REFUSED';
	const reason = (unreached ? await whyUnreached(address) : null) ?? reasonOf(error);
	return new PostgresUnusable(reason, error, `${hostname}:${address.port}${pathname}`);
}

const reasonOf = (error: unknown): string =>
	error instanceof PostgresUnusable ? error.reason : messageOf(error);

const LOOK_WITHIN_MS = 3_000;

/** Null where it can be reached by now. */
function whyUnreached(address: { readonly host: string; readonly port: number }): Promise<string | null> {
	return new Promise((resolve) => {
		const socket = createConnection({ ...address, timeout: LOOK_WITHIN_MS });
		const end = (why: string | null): void => {
			socket.destroy();
			resolve(why);
		};
		socket.once('connect', () => end(null));
		socket.once('timeout', () => end(`no answer within ${LOOK_WITHIN_MS} ms`));
		socket.once('error', ({ message }) => end(message));
	});
}

export type FailureKind = 'away' | 'conflict' | 'refused';

/**
 * Of the server's codes: connection exceptions, a transaction that was idle for too long, too many connections, no disk or memory, something in use, cancelled or shutting down, I/O
 * and internal errors. None of them is about what was to be written.
 */
const UNAVAILABLE = /^(08|25P03|53|55|57|58|XX)/;
/** Likewise: it takes no writes, or none of this user's, until somebody does something about it. */
const REJECTS_WRITES: ReadonlyMap<string, string> = new Map([
	['25006', 'make it writable, or have TIDEMARK_POSTGRES_URL name the primary'],
	['42501', 'let the user of TIDEMARK_POSTGRES_URL write to the tables'],
]);
/** Serialisation failure and deadlock: the transaction was rolled back for the good of another. */
const CONFLICT = /^40/;

const textOf = (error: unknown, name: 'code' | 'errno'): string => {
	const value = typeof error === 'object' && error !== null ? Reflect.get(error, name) : undefined;
	return typeof value === 'string' ? value : '';
};

export function failureKindOf(error: unknown): FailureKind {
	if (error instanceof OutcomeUnknown) return 'away';
	const state = textOf(error, 'errno');
	if (UNAVAILABLE.test(state) || REJECTS_WRITES.has(state)) return 'away';
	if (CONFLICT.test(state)) return 'conflict';
	if (state !== '') return 'refused';
	// Bun's own: the connection was refused, closed, timed out, or ended in the middle of an answer.
	const code = textOf(error, 'code');
	if (code.startsWith('ERR_POSTGRES_') && !code.endsWith('SERVER_ERROR')) return 'away';
	return /^(ECONN|EPIPE|ETIMEDOUT|EHOST|ENET|ENOTFOUND|EAI_)/.test(code) ? 'away' : 'refused';
}

/** Another connection may lead to one that takes writes, or is given other settings. */
export const rejectsWrites = (error: unknown): boolean => REJECTS_WRITES.has(textOf(error, 'errno'));

/** The text for the operator, with what to do where that is known. */
export function explained(error: unknown): Error {
	const state = textOf(error, 'errno');
	const advice = REJECTS_WRITES.get(state);
	if (advice !== undefined) return new Error(`it rejects writes (${messageOf(error)}, ${state}): ${advice}`);
	return error instanceof Error ? error : new Error(messageOf(error));
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
