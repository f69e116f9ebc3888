import { Refusal } from '../../model/errors.ts';
import { ANY_ORIGIN, addressedTo } from '../../protocol/addresses.ts';

/** How the caller reaches this server: what addresses in answers are made of. */

const HOST = /^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/;

function hostOf(request: Request): string {
	const host = request.headers.get('host') ?? '';
	if (HOST.test(host)) return host;
	throw new Refusal('invalid_arguments', 'the Host header is missing or not a host');
}

/** Behind a proxy that ends TLS, the request itself is plain. */
function isSecure(request: Request): boolean {
	const forwarded = request.headers.get('x-forwarded-proto')?.split(',', 1)[0]?.trim().toLowerCase();
	if (forwarded !== undefined && forwarded !== '') return forwarded === 'https' || forwarded === 'wss';
	return request.url.startsWith('https:');
}

/** `https://host`, for the addresses in messages; `publicUrl` where that is set. */
export const originFor = (request: Request, publicUrl: string | null): string =>
	publicUrl ?? webUrl(request).slice(0, -1);

/** An answer with addresses as this client reaches them. Where its Host header is unusable, they lead nowhere. */
export const addressedFor =
	(request: Request, publicUrl: string | null) =>
	(json: string): string => {
		if (!json.includes(ANY_ORIGIN)) return json;
		try {
			return addressedTo(originFor(request, publicUrl), json);
		} catch (error) {
			if (error instanceof Refusal) return json;
			throw error;
		}
	};

export const webUrl = (request: Request): string =>
	`${isSecure(request) ? 'https' : 'http'}://${hostOf(request)}/`;

/** The ticket is part of the path: slack-go replaces the query with its own. */
export const socketUrl = (request: Request, ticket: string): string =>
	`${isSecure(request) ? 'wss' : 'ws'}://${hostOf(request)}/rtm/${ticket}`;

/** Where an app answers a command or an action later. */
export const responseUrl = (request: Request, pass: string): string => `${webUrl(request)}responses/${pass}`;

/** Where an app opens its Socket Mode connection. Libraries append to the query, so there is one. */
export const linkUrl = (request: Request, ticket: string, app: string): string =>
	`${isSecure(request) ? 'wss' : 'ws'}://${hostOf(request)}/link/${ticket}?app_id=${app}`;
