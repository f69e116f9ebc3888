import { type ErrorCode, Rejection } from '../../model/errors.ts';
import { ANONYMOUS, type Caller } from '../auth/caller.ts';
import { bearerTokenIn, looksLikeJwt } from '../auth/tokens.ts';
import type { Services } from '../services.ts';
import { addForm, type RawArguments, readBody } from './body.ts';
import type { IncomingBody } from './incoming-body.ts';
import type { Method } from './method.ts';

/**
 * Identifies the caller, then reads the body. The body of a known caller who is within the limits is read whole. If
 * neither header nor query has a token, the body may contain it: then only a small body is read, for a short time.
 */

export interface Incoming {
	readonly request: Request;
	readonly query: string;
	readonly body: IncomingBody;
	readonly client: { readonly address: string | null };
}

export interface ReceivedCall {
	readonly caller: Caller;
	readonly raw: RawArguments;
}

/** Errors of requests without a valid token. */
const ANONYMOUS_ERRORS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
	'not_authed',
	'invalid_auth',
	'token_expired',
	'token_revoked',
	'account_inactive',
]);

/** Limits for a body that is read before the caller is known: it contains the token, or the method needs none. */
const MAX_ANONYMOUS_BYTES = 64 * 1024;
const ANONYMOUS_MS = 5_000;
/** While a token is looked up, the body does not time out: the sender cannot influence how long that takes. */
const LOOK_UP_MS = Number.POSITIVE_INFINITY;
/** Time limit for the body of a known caller. */
const KNOWN_MS = 30_000;
/** One key for all clients that a proxy does not name. */
const UNNAMED = 'unnamed';

export async function receiveCall(
	method: Method,
	incoming: Incoming,
	services: Services,
): Promise<ReceivedCall> {
	const { request, query, body, client } = incoming;
	const raw = addForm(new Map(), query);
	if (method.audience === 'anyone') return withoutToken(incoming, raw, services);
	const token = tokenBeforeBody(request, raw);
	if (token === null) return withTokenInBody(method, incoming, raw, services);
	const caller = await identified(token, incoming, services, (cached) => {
		if (!cached) services.anonymousLimits.admit(client.address);
		body.hold(cached ? budgetKeyOf(cached) : (client.address ?? UNNAMED), LOOK_UP_MS);
	});
	limit(method, caller, services);
	body.hold(budgetKeyOf(caller), KNOWN_MS);
	return { caller, raw: await readWhole(raw, incoming) };
}

/** Counts every call as a failed one, so that calls without a token are limited per address. */
async function withoutToken(
	incoming: Incoming,
	raw: RawArguments,
	services: Services,
): Promise<ReceivedCall> {
	const { client } = incoming;
	services.anonymousLimits.admit(client.address);
	services.anonymousLimits.failed(client.address);
	if (incoming.body.bytes > 0) await smallBody(incoming, raw);
	return { caller: ANONYMOUS, raw };
}

async function identified(
	token: string | null,
	{ client }: Incoming,
	services: Services,
	beforeLookUp?: (cached: Caller | null) => void,
): Promise<Caller> {
	try {
		return await services.auth.identify(token, beforeLookUp);
	} catch (error) {
		if (isAnonymousError(error, token)) services.anonymousLimits.failed(client.address);
		throw error;
	}
}

/** An expired JWT with a valid signature comes from a real user, so it is not counted as anonymous. */
function isAnonymousError(error: unknown, token: string | null): boolean {
	if (!(error instanceof Rejection)) return false;
	if (error.code === 'token_expired' && token !== null && looksLikeJwt(token)) return false;
	return ANONYMOUS_ERRORS.has(error.code);
}

/** The key under which the memory and the calls of a caller are counted. */
export const budgetKeyOf = (caller: Caller): string => {
	if (caller.kind === 'user') return caller.user.id;
	return caller.kind === 'app' ? caller.app : caller.kind;
};

async function withTokenInBody(
	method: Method,
	incoming: Incoming,
	raw: RawArguments,
	services: Services,
): Promise<ReceivedCall> {
	services.anonymousLimits.admit(incoming.client.address);
	const token = await tokenInBody(incoming, raw, services);
	const caller = await identified(token, incoming, services);
	limit(method, caller, services);
	return { caller, raw };
}

async function tokenInBody(
	incoming: Incoming,
	raw: RawArguments,
	services: Services,
): Promise<string | null> {
	const { body, client } = incoming;
	try {
		if (body.bytes > MAX_ANONYMOUS_BYTES)
			throw new Rejection(
				'not_authed',
				`send the token in the Authorization header; a body with a token may have at most ${MAX_ANONYMOUS_BYTES} bytes`,
			);
		if (body.bytes === 0) return null;
		await smallBody(incoming, raw);
	} catch (error) {
		const isSlow = error instanceof Rejection && error.code === 'request_timeout';
		if (isSlow || isAnonymousError(error, null)) services.anonymousLimits.failed(client.address);
		throw error;
	}
	const token = raw.get('token');
	return typeof token === 'string' ? token : null;
}

async function smallBody(incoming: Incoming, raw: RawArguments): Promise<void> {
	const { body, client } = incoming;
	if (body.bytes > MAX_ANONYMOUS_BYTES)
		throw new Rejection(
			'request_too_large',
			`without a token a body may have at most ${MAX_ANONYMOUS_BYTES} bytes`,
		);
	body.hold(client.address ?? UNNAMED, ANONYMOUS_MS);
	await readWhole(raw, incoming);
}

async function readWhole(raw: RawArguments, { request, body }: Incoming): Promise<RawArguments> {
	const whole = await (body.bytes === 0 ? readBody(raw, request) : body.read(readBody(raw, request)));
	body.release();
	return whole;
}

/** The header wins over the argument. Null: the token can only be in the body. */
function tokenBeforeBody(request: Request, raw: RawArguments): string | null {
	const header = request.headers.get('authorization');
	if (header !== null) return bearerTokenIn(header);
	const argument = raw.get('token');
	return typeof argument === 'string' ? argument : null;
}

function limit(method: Method, caller: Caller, services: Services): void {
	if (caller.kind !== 'user' && caller.kind !== 'app') return;
	const wait = services.limits.take(budgetKeyOf(caller), method.limited);
	if (wait > 0) throw new Rejection('ratelimited', undefined, wait);
}
