/**
 * Pages of other origins that may call the methods. Tokens come in a header or an argument, never as a cookie, so
 * being allowed gives a page nothing but the right to read answers to what it could send anyway.
 */

const ANY = '*';
/** How long a browser need not ask again. */
const REMEMBERED_SECONDS = 7_200;

export class Cors {
	private readonly allowed: ReadonlySet<string>;

	/** Origins as browsers send them; `*` for any. */
	constructor(origins: readonly string[]) {
		this.allowed = new Set(origins);
	}

	/** The answer to a browser that asks before it sends; null: it is no such question. */
	preflight(request: Request): Response | null {
		if (request.method !== 'OPTIONS' || !request.headers.has('access-control-request-method')) return null;
		const response = new Response(null, { status: 204 });
		response.headers.set('vary', 'origin');
		const origin = this.allowedOrigin(request);
		if (origin === null) return response;
		response.headers.set('access-control-allow-origin', origin);
		response.headers.set('access-control-allow-methods', 'GET, POST, PUT');
		response.headers.set('access-control-allow-headers', 'authorization, content-type');
		response.headers.set('access-control-max-age', String(REMEMBERED_SECONDS));
		return response;
	}

	/** The same answer, for the page that asked to read. */
	readable(request: Request, response: Response): Response {
		response.headers.append('vary', 'origin');
		const origin = this.allowedOrigin(request);
		if (origin === null) return response;
		response.headers.set('access-control-allow-origin', origin);
		// Who is limited has to know for how long.
		response.headers.set('access-control-expose-headers', 'retry-after');
		return response;
	}

	private allowedOrigin(request: Request): string | null {
		const origin = request.headers.get('origin');
		if (origin === null) return null;
		return this.allowed.has(ANY) || this.allowed.has(origin) ? origin : null;
	}
}
