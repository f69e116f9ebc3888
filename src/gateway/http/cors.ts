/**
 * CORS for pages of other origins. Tokens are sent in a header or an argument, never as a cookie: an allowed page
 * only gains the right to read answers to requests that it could send anyway.
 */

const ANY = '*';
/** How long browsers cache a preflight. */
const PREFLIGHT_CACHE_SECONDS = 7_200;

export class Cors {
	private readonly allowed: ReadonlySet<string>;

	/** Origins as browsers send them; `*` for any. */
	constructor(origins: readonly string[]) {
		this.allowed = new Set(origins);
	}

	/** Answers a preflight request; null if the request is not one. */
	preflight(request: Request): Response | null {
		if (request.method !== 'OPTIONS' || !request.headers.has('access-control-request-method')) return null;
		const response = new Response(null, { status: 204 });
		response.headers.set('vary', 'origin');
		const origin = this.allowedOrigin(request);
		if (origin === null) return response;
		response.headers.set('access-control-allow-origin', origin);
		response.headers.set('access-control-allow-methods', 'GET, POST, PUT');
		response.headers.set('access-control-allow-headers', 'authorization, content-type');
		response.headers.set('access-control-max-age', String(PREFLIGHT_CACHE_SECONDS));
		return response;
	}

	/** Adds the headers that let the page read the answer. */
	withHeaders(request: Request, response: Response): Response {
		response.headers.append('vary', 'origin');
		const origin = this.allowedOrigin(request);
		if (origin === null) return response;
		response.headers.set('access-control-allow-origin', origin);
		// A rate-limited page needs to know how long to wait.
		response.headers.set('access-control-expose-headers', 'retry-after');
		return response;
	}

	private allowedOrigin(request: Request): string | null {
		const origin = request.headers.get('origin');
		if (origin === null) return null;
		return this.allowed.has(ANY) || this.allowed.has(origin) ? origin : null;
	}
}
