import { type ErrorCode, Refusal } from '../../model/errors.ts';
import { type Caller, STRANGER } from '../auth/caller.ts';
import { looksLikeJwt } from '../auth/tokens.ts';
import type { Services } from '../services.ts';
import { addForm, type RawArguments, readBody } from './body.ts';
import type { IncomingBody } from './incoming-body.ts';
import type { Method } from './method.ts';

/**
 * Who calls, then what they sent. A body is read only of a caller who is known and not limited; without a token in the header
 * or the query, it may hold the token: then a small one is read, and not for long.
 */

export interface Incoming {
	readonly request: Request;
	readonly query: string;
	readonly body: IncomingBody;
	readonly client: { readonly address: string | null };
}

export interface Received {
	readonly caller: Caller;
	readonly raw: RawArguments;
}

/** What only requests without a valid token are refused with. */
const OF_STRANGERS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
	'not_authed',
	'invalid_auth',
	'token_expired',
	'token_revoked',
	'account_inactive',
]);

/** Of a body that holds the token itself. */
const MOST_ANONYMOUS_BYTES = 64 * 1024;
const ANONYMOUS_MS = 5_000;
/** While a token is looked up: how long that takes is not up to the sender. */
const LOOK_UP_MS = Number.POSITIVE_INFINITY;
/** Of a user who is known. */
const KNOWN_MS = 30_000;
/** All whom a proxy does not name hold bodies together. */
const UNNAMED = 'unnamed';

export async function received(method: Method, incoming: Incoming, services: Services): Promise<Received> {
	const { request, query, body, client } = incoming;
	const raw = addForm(new Map(), query);
	if (method.audience === 'anyone') return stranger(incoming, raw, services);
	const token = tokenBeforeBody(request, raw);
	if (token === null) return anonymous(method, incoming, raw, services);
	const caller = await identified(token, incoming, services, (remembered) => {
		if (!remembered) services.strangers.admit(client.address);
		body.hold(remembered ? holderOf(remembered) : (client.address ?? UNNAMED), LOOK_UP_MS);
	});
	limit(method, caller, services);
	body.hold(holderOf(caller), KNOWN_MS);
	return { caller, raw: await readWhole(raw, incoming) };
}

/** Each such call counts as one without a valid token: there are only so many of them from one address. */
async function stranger(incoming: Incoming, raw: RawArguments, services: Services): Promise<Received> {
	const { client } = incoming;
	services.strangers.admit(client.address);
	services.strangers.failed(client.address);
	if (incoming.body.bytes > 0) await smallBody(incoming, raw);
	return { caller: STRANGER, raw };
}

async function identified(
	token: string | null,
	{ client }: Incoming,
	services: Services,
	beforeLookUp?: (remembered: Caller | null) => void,
): Promise<Caller> {
	try {
		return await services.auth.identify(token, beforeLookUp);
	} catch (error) {
		if (isOfStranger(error, token)) services.strangers.failed(client.address);
		throw error;
	}
}

/** Only a user who had a valid JWT can send an expired one: its signature is verified first. */
function isOfStranger(error: unknown, token: string | null): boolean {
	if (!(error instanceof Refusal)) return false;
	if (error.code === 'token_expired' && token !== null && looksLikeJwt(token)) return false;
	return OF_STRANGERS.has(error.code);
}

/** Whose memory it is. */
export const holderOf = (caller: Caller): string => {
	if (caller.kind === 'user') return caller.user.id;
	return caller.kind === 'app' ? caller.app : caller.kind;
};

async function anonymous(
	method: Method,
	incoming: Incoming,
	raw: RawArguments,
	services: Services,
): Promise<Received> {
	services.strangers.admit(incoming.client.address);
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
		if (body.bytes > MOST_ANONYMOUS_BYTES)
			throw new Refusal(
				'not_authed',
				`send the token in the Authorization header; in the body it is read up to ${MOST_ANONYMOUS_BYTES} bytes`,
			);
		if (body.bytes === 0) return null;
		await smallBody(incoming, raw);
	} catch (error) {
		const isSlow = error instanceof Refusal && error.code === 'request_timeout';
		if (isSlow || isOfStranger(error, null)) services.strangers.failed(client.address);
		throw error;
	}
	const token = raw.get('token');
	return typeof token === 'string' ? token : null;
}

async function smallBody(incoming: Incoming, raw: RawArguments): Promise<void> {
	const { body, client } = incoming;
	if (body.bytes > MOST_ANONYMOUS_BYTES)
		throw new Refusal('request_too_large', `at most ${MOST_ANONYMOUS_BYTES} bytes without a token`);
	body.hold(client.address ?? UNNAMED, ANONYMOUS_MS);
	await readWhole(raw, incoming);
}

async function readWhole(raw: RawArguments, { request, body }: Incoming): Promise<RawArguments> {
	const whole = await (body.bytes === 0 ? readBody(raw, request) : body.read(readBody(raw, request)));
	body.release();
	return whole;
}

const BEARER = /^Bearer +(.+)$/i;

/** The header wins over an argument. Null: only the body can have it. */
function tokenBeforeBody(request: Request, raw: RawArguments): string | null {
	const header = request.headers.get('authorization');
	if (header !== null) return BEARER.exec(header)?.[1]?.trim() ?? '';
	const argument = raw.get('token');
	return typeof argument === 'string' ? argument : null;
}

function limit(method: Method, caller: Caller, services: Services): void {
	if (caller.kind !== 'user' && caller.kind !== 'app') return;
	const wait = services.limits.take(holderOf(caller), method.limited);
	if (wait > 0) throw new Refusal('ratelimited', undefined, wait);
}
