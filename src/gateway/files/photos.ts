import { MAX_PHOTO_BYTES, mimetypeOf, PHOTO_NAME, type PhotoType } from '../../model/photos.ts';
import { PHOTO_PATH } from '../../protocol/objects.ts';
import type { Services } from '../services.ts';

/**
 * Serves photos of users: `/photos/F….png`. As at Slack, anyone with the address may see a photo; addresses cannot
 * be guessed, and a new photo gets a new address. File contents cannot be read through this path: their objects
 * have other names.
 */

export const PHOTO_OBJECT = 'photo';

const HEADERS = {
	'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
	'x-content-type-options': 'nosniff',
	'referrer-policy': 'no-referrer',
	'cross-origin-resource-policy': 'cross-origin',
	'cache-control': 'public, max-age=31536000, immutable',
};

export async function servePhoto(path: string, request: Request, services: Services): Promise<Response> {
	const [, id, type] = PHOTO_NAME.exec(path.slice(PHOTO_PATH.length)) ?? [];
	if (!id || !services.files || (request.method !== 'GET' && request.method !== 'HEAD')) return missing();
	try {
		const content = await services.files.contents.read(id, PHOTO_OBJECT, 0, MAX_PHOTO_BYTES);
		if (!content) return missing();
		const headers = { ...HEADERS, 'content-type': mimetypeOf(type as PhotoType) };
		return new Response(request.method === 'HEAD' ? null : content, { headers });
	} catch (error) {
		services.operations.failed('photos', error);
		return new Response('unavailable\n', { status: 503, headers: { 'retry-after': '1' } });
	}
}

const missing = (): Response => new Response('not found\n', { status: 404 });
