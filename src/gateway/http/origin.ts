/** How the caller reaches this server: what addresses in answers are made of. */

const HOST = /^[A-Za-z0-9.:[\]_-]+$/;

function hostOf(request: Request): string {
	const told = request.headers.get('host');
	return told !== null && HOST.test(told) ? told : new URL(request.url).host;
}

/** Behind a proxy that ends TLS, the request itself is plain. */
function isSecure(request: Request): boolean {
	const forwarded = request.headers.get('x-forwarded-proto')?.split(',', 1)[0]?.trim().toLowerCase();
	if (forwarded !== undefined && forwarded !== '') return forwarded === 'https' || forwarded === 'wss';
	return request.url.startsWith('https:');
}

export const webUrl = (request: Request): string =>
	`${isSecure(request) ? 'https' : 'http'}://${hostOf(request)}/`;

export const socketUrl = (request: Request, ticket: string): string =>
	`${isSecure(request) ? 'wss' : 'ws'}://${hostOf(request)}/rtm?ticket=${ticket}`;
