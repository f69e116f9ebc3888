import { type ErrorCode, Refusal } from '../../model/errors.ts';
import type { Caller } from '../auth/caller.ts';
import type { Services } from '../services.ts';
import { blamed } from './blame.ts';
import { type RawArguments, readArguments } from './body.ts';
import { failure, notFound, prettySuccess, success } from './envelope.ts';
import type { Method } from './method.ts';
import { METHODS } from './methods/index.ts';
import { targetOf } from './target.ts';
import { serveNotFound, serveWeb } from './web.ts';

/**
 * The HTTP side of the gateway, from a Request to a Response; it knows nothing of the server that it runs in.
 * A call goes through one sequence: method, arguments as sent, caller, limit, arguments as meant, run.
 */

const API = '/api/';

export async function handle(request: Request, services: Services): Promise<Response> {
	const { path, query } = targetOf(request.url);
	if (path.startsWith(API)) return serveApi(path.slice(API.length), query, request, services);
	switch (path) {
		case '/healthz':
			return services.operations.health();
		case '/readyz':
			return services.operations.ready();
		case '/metrics':
			return services.operations.metrics();
		default:
			return servePage(path, request, services);
	}
}

async function serveApi(
	name: string,
	query: string,
	request: Request,
	services: Services,
): Promise<Response> {
	const { cors } = services;
	if (!cors) return serveMethod(name, query, request, services);
	return cors.preflight(request) ?? cors.readable(request, await serveMethod(name, query, request, services));
}

async function servePage(path: string, request: Request, services: Services): Promise<Response> {
	try {
		return (await serveWeb(path, request)) ?? (await serveNotFound(request)) ?? notFound();
	} catch (error) {
		services.operations.failed('web', error);
		return new Response('The web interface could not be built; the log says why.', { status: 500 });
	}
}

const UNKNOWN = 'unknown';

async function serveMethod(
	name: string,
	query: string,
	request: Request,
	services: Services,
): Promise<Response> {
	const started = performance.now();
	const method = Object.hasOwn(METHODS, name) ? METHODS[name] : undefined;
	// Names that do not exist are not told apart: they are the sender's to choose.
	const shownName = method ? name : UNKNOWN;
	let outcome: 'ok' | ErrorCode = 'ok';
	try {
		if (!method) throw new Refusal('unknown_method');
		const raw = await readArguments(request, query);
		const caller = await services.auth.identify(tokenOf(request, raw));
		limit(method, caller, services);
		const answer = await method.call(raw, caller, { services, request });
		return raw.has('pretty') ? prettySuccess(answer) : success(answer);
	} catch (error) {
		if (!(error instanceof Refusal)) services.operations.failed(shownName, error);
		const refusal = refusalOf(error, method);
		outcome = refusal.code;
		return failure(refusal);
	} finally {
		services.operations.observe(shownName, outcome, performance.now() - started);
	}
}

const BEARER = /^Bearer +(.+)$/i;

/** The header wins over an argument. */
function tokenOf(request: Request, raw: RawArguments): string | null {
	const header = request.headers.get('authorization');
	if (header !== null) return BEARER.exec(header)?.[1]?.trim() ?? '';
	const argument = raw.get('token');
	return typeof argument === 'string' ? argument : null;
}

function limit(method: Method, caller: Caller, services: Services): void {
	if (caller.kind === 'admin') return;
	const wait = services.limits.take(caller.user.id, method.limited);
	if (wait > 0) throw new Refusal('ratelimited', undefined, wait);
}

/**
 * Slack's RTM client stops for good at any refusal but these, and tries again at 503: at the methods that
 * it connects with, every other one about the token becomes `invalid_auth`.
 */
const AT_CONNECT: Partial<Record<ErrorCode, ErrorCode>> = {
	token_expired: 'invalid_auth',
	token_revoked: 'invalid_auth',
	not_allowed_token_type: 'invalid_auth',
	internal_error: 'service_unavailable',
};

function refusalOf(error: unknown, method: Method | undefined): Refusal {
	const refusal = error instanceof Refusal ? error : new Refusal('internal_error');
	if (!method) return refusal;
	const code = method.limited === 'connects' ? AT_CONNECT[refusal.code] : undefined;
	if (code) return new Refusal(code, refusal.detail, refusal.retryAfterSeconds);
	return blamed(refusal, method.schema);
}
