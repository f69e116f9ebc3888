import { Rejection } from '../../model/errors.ts';
import { ANY_ORIGIN, withOrigin } from '../../protocol/addresses.ts';

/** The address at which the caller reaches this server, for links in answers. */

const HOST = /^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/;

function hostOf(request: Request): string {
	const host = request.headers.get('host') ?? '';
	if (HOST.test(host)) return host;
	throw new Rejection('invalid_arguments', 'the Host header is missing or invalid');
}

/** Behind a proxy that terminates TLS, the request itself is plain. */
function isSecure(request: Request): boolean {
	const forwarded = request.headers.get('x-forwarded-proto')?.split(',', 1)[0]?.trim().toLowerCase();
	if (forwarded !== undefined && forwarded !== '') return forwarded === 'https' || forwarded === 'wss';
	return request.url.startsWith('https:');
}

/** `https://host`, for links in messages; `publicUrl` if it is set. */
export const originFor = (request: Request, publicUrl: string | null): string =>
	publicUrl ?? webUrl(request).slice(0, -1);

/**
 * Replaces the placeholder `ANY_ORIGIN` in an answer with the origin for this client. If its Host header is
 * invalid, the placeholder stays.
 */
export const originRewriter =
	(request: Request, publicUrl: string | null) =>
	(json: string): string => {
		if (!json.includes(ANY_ORIGIN)) return json;
		try {
			return withOrigin(originFor(request, publicUrl), json);
		} catch (error) {
			if (error instanceof Rejection) return json;
			throw error;
		}
	};

export const webUrl = (request: Request): string =>
	`${isSecure(request) ? 'https' : 'http'}://${hostOf(request)}/`;

/** The ticket is in the path because slack-go replaces the query. */
export const socketUrl = (request: Request, ticket: string): string =>
	`${isSecure(request) ? 'wss' : 'ws'}://${hostOf(request)}/rtm/${ticket}`;

/** The address of a Socket Mode connection. It has a query because libraries append to it. */
export const socketModeUrl = (request: Request, ticket: string, app: string): string =>
	`${isSecure(request) ? 'wss' : 'ws'}://${hostOf(request)}/link/${ticket}?app_id=${app}`;
