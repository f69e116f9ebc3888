import { type ErrorCode, Rejection } from '../../model/errors.ts';
import { CONTENT_PATH } from '../../protocol/file-objects.ts';
import { PHOTO_PATH } from '../../protocol/objects.ts';
import { isHook, serveHook } from '../apps/hooks.ts';
import { serveContent } from '../files/downloads.ts';
import { servePhoto } from '../files/photos.ts';
import { serveUpload, UPLOAD_PATH } from '../files/uploads.ts';
import type { Services } from '../services.ts';
import { withArgumentName } from './argument-name.ts';
import { failure, notFound, prettySuccess, success } from './envelope.ts';
import { IncomingBody } from './incoming-body.ts';
import type { Method } from './method.ts';
import { METHODS } from './methods/index.ts';
import { scopesOf } from './oauth-scopes.ts';
import { originRewriter } from './origin.ts';
import { budgetKeyOf, receiveCall } from './receive-call.ts';
import { requestTargetOf } from './request-target.ts';
import { serveNotFound, serveWeb } from './web.ts';

/**
 * The HTTP side of the gateway: from a Request to a Response, independent of the server that it runs in. A call
 * takes these steps: method, caller, limit, body, arguments, run. If the token is in the body, the body comes first.
 */

const API = '/api/';

/** The sender of a request, known by its address until a token identifies it. */
export interface Client {
	/** Null: unknown, usually behind a trusted proxy that names no client. */
	readonly address: string | null;
}

const UNNAMED: Client = { address: null };

export async function handle(
	request: Request,
	services: Services,
	client: Client = UNNAMED,
): Promise<Response> {
	const response = await answerTo(request, services, client);
	// Bun closes the connection after a request with `connection: close`, but does not send this header in the answer. A Node client
	// with keep-alive would send its next request on the closed connection, and fail.
	const isLast = request.headers.get('connection')?.toLowerCase() === 'close';
	return isLast ? closeAfter(response) : response;
}

async function answerTo(request: Request, services: Services, client: Client): Promise<Response> {
	const { path, query } = requestTargetOf(request.url);
	if (path.startsWith(API)) return serveApi(path.slice(API.length), query, request, services, client);
	if (isHook(path)) return serveHook(path, request, services, client.address);
	if (path.startsWith(PHOTO_PATH)) return servePhoto(path, request, services);
	if (isFile(path)) return serveFile(path, query, request, services, client);
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

const isFile = (path: string): boolean => path.startsWith(CONTENT_PATH) || path.startsWith(UPLOAD_PATH);

const serveFile = (path: string, query: string, request: Request, services: Services, client: Client) =>
	withCors(request, services, () =>
		path.startsWith(UPLOAD_PATH)
			? serveUpload(path, request, services, client.address)
			: serveContent(path, query, request, services, client.address),
	);

async function serveApi(
	name: string,
	query: string,
	request: Request,
	services: Services,
	client: Client,
): Promise<Response> {
	return withCors(request, services, () => serveMethod(name, query, request, services, client));
}

/** Adds CORS headers if pages of other origins are allowed. */
async function withCors(
	request: Request,
	{ cors }: Services,
	serve: () => Promise<Response>,
): Promise<Response> {
	if (!cors) return serve();
	return cors.preflight(request) ?? cors.withHeaders(request, await serve());
}

async function servePage(path: string, request: Request, services: Services): Promise<Response> {
	try {
		return (await serveWeb(path, request)) ?? (await serveNotFound(request)) ?? notFound();
	} catch (error) {
		services.operations.failed('web', error);
		return new Response('The web interface could not be built; see the server’s log.', { status: 500 });
	}
}

const UNKNOWN = 'unknown';

async function serveMethod(
	name: string,
	query: string,
	request: Request,
	services: Services,
	client: Client,
): Promise<Response> {
	const started = performance.now();
	const method = Object.hasOwn(METHODS, name) ? METHODS[name] : undefined;
	// Unknown names share one metric label, because the sender chooses them.
	const shownName = method ? name : UNKNOWN;
	const body = new IncomingBody(request, services.bodyMemory);
	let outcome: 'ok' | ErrorCode = 'ok';
	let scopes: string | null = null;
	try {
		if (!method) throw new Rejection('unknown_method');
		const { caller, raw } = await receiveCall(method, { request, query, body, client }, services);
		scopes = scopesOf(caller);
		const answer = await method.call(raw, caller, { services, request });
		const receiver = {
			key: budgetKeyOf(caller),
			budget: services.answerMemory,
			rewriteOrigin: originRewriter(request, services.publicUrl),
		};
		return scoped(raw.has('pretty') ? prettySuccess(answer, receiver) : success(answer, receiver), scopes);
	} catch (error) {
		if (!(error instanceof Rejection)) services.operations.failed(shownName, error);
		const rejection = rejectionOf(error, method);
		outcome = rejection.code;
		const response = scoped(failure(rejection), scopes);
		return body.isBroken ? closeAfter(response) : response;
	} finally {
		body.release();
		services.operations.observe(shownName, outcome, performance.now() - started);
	}
}

function scoped(response: Response, scopes: string | null): Response {
	if (scopes !== null) response.headers.set('x-oauth-scopes', scopes);
	return response;
}

/** Announces that the connection closes after this response: the client asked for it, or may still be sending a rejected body. */
function closeAfter(response: Response): Response {
	response.headers.set('connection', 'close');
	return response;
}

/**
 * Slack's RTM client understands `not_authed`, `invalid_auth` and `account_inactive`, retries after a 503, and hangs after any
 * other error. So the methods that it connects with answer other errors about the token with `invalid_auth`, and failures with a 503.
 */
const AT_CONNECT: Partial<Record<ErrorCode, ErrorCode>> = {
	token_expired: 'invalid_auth',
	token_revoked: 'invalid_auth',
	not_allowed_token_type: 'invalid_auth',
	internal_error: 'service_unavailable',
	request_timeout: 'service_unavailable',
};

function rejectionOf(error: unknown, method: Method | undefined): Rejection {
	const rejection = error instanceof Rejection ? error : new Rejection('internal_error');
	if (!method) return rejection;
	const code =
		method.limited === 'connects' && method.audience === 'user' ? AT_CONNECT[rejection.code] : undefined;
	if (code) return new Rejection(code, rejection.detail, rejection.retryAfterSeconds, rejection.cause);
	return withArgumentName(rejection, method.schema);
}
