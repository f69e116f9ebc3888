import type { FileRecord } from '../../engine/ports/files.ts';
import type { User } from '../../engine/ports/store.ts';
import { Rejection } from '../../model/errors.ts';
import { isShownInline } from '../../model/file-types.ts';
import { isTeamId } from '../../model/ids.ts';
import { CONTENT_PATH } from '../../protocol/file-objects.ts';
import { bearerTokenIn } from '../auth/tokens.ts';
import { addForm } from '../http/body.ts';
import type { Services } from '../services.ts';
import { filesOf, visibleFile } from './access.ts';
import { linkHolder } from './links.ts';
import { rangeOf } from './range.ts';

/**
 * Serves the content of files: `/files-pri/T…-F…/name`, with a token in the Authorization header or a signed query.
 * A file that the caller may not see is answered like one that does not exist. Uploaded files cannot run scripts:
 * only media types without scripts are shown inline, all others are downloads, and a content security policy
 * forbids scripts everywhere.
 */

const SECURITY_HEADERS = {
	'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
	'x-content-type-options': 'nosniff',
	'referrer-policy': 'no-referrer',
	'cross-origin-opener-policy': 'same-origin',
};

const PATH = /^([A-Z0-9]{3,21})-(F[A-Z0-9]{2,20})\/(download\/)?[^/]*$/;

interface WantedFile {
	readonly id: string;
	readonly team: string;
	readonly isDownload: boolean;
}

export async function serveContent(
	path: string,
	query: string,
	request: Request,
	services: Services,
	address: string | null,
): Promise<Response> {
	try {
		if (request.method !== 'GET' && request.method !== 'HEAD')
			return errorResponse(405, 'method_not_allowed');
		const wanted = wantedBy(path);
		const user = await userOf(wanted, query, request, services, address);
		const wait = services.limits.take(user.id, 'requests');
		if (wait > 0) throw new Rejection('ratelimited', undefined, wait);
		const caller = { user, team: user.team };
		if (wanted.team !== user.team) throw new Rejection('file_not_found');
		const { file } = await visibleFile({ services, caller }, wanted.id);
		return await contentResponse(file, wanted, request, services);
	} catch (error) {
		return failureResponse(error, services);
	}
}

function wantedBy(path: string): WantedFile {
	const [, team = '', id = '', download] = PATH.exec(path.slice(CONTENT_PATH.length)) ?? [];
	if (!isTeamId(team)) throw new Rejection('file_not_found');
	return { team, id, isDownload: download !== undefined };
}

/** The user of the token or of the signed link. */
async function userOf(
	wanted: WantedFile,
	query: string,
	request: Request,
	services: Services,
	address: string | null,
): Promise<User> {
	const header = request.headers.get('authorization');
	try {
		if (header !== null) {
			const token = bearerTokenIn(header);
			const caller = await services.auth.identify(token, () => services.anonymousLimits.admit(address));
			if (caller.kind === 'user') return caller.user;
			throw new Rejection('not_allowed_token_type');
		}
		services.anonymousLimits.admit(address);
		const user = await linkHolder(services, wanted, addForm(new Map(), query), Date.now());
		if (user) return user;
		throw new Rejection('not_authed');
	} catch (error) {
		if (error instanceof Rejection && error.code !== 'ratelimited' && error.code !== 'service_unavailable')
			services.anonymousLimits.failed(address);
		throw error;
	}
}

const STATUS_OF: Readonly<Record<string, number>> = {
	file_not_found: 404,
	file_deleted: 404,
	files_disabled: 404,
	ratelimited: 429,
	service_unavailable: 503,
};

function failureResponse(error: unknown, services: Services): Response {
	if (!(error instanceof Rejection)) {
		services.operations.failed('files', error);
		return errorResponse(500, 'internal_error');
	}
	const response = errorResponse(STATUS_OF[error.code] ?? 401, error.code);
	if (error.retryAfterSeconds !== undefined)
		response.headers.set('retry-after', String(error.retryAfterSeconds));
	return response;
}

const errorResponse = (status: number, error: string): Response =>
	new Response(`${error}\n`, {
		status,
		headers: {
			...SECURITY_HEADERS,
			'content-type': 'text/plain; charset=utf-8',
			'cache-control': 'no-store',
		},
	});

async function contentResponse(
	file: FileRecord,
	{ isDownload }: WantedFile,
	request: Request,
	services: Services,
): Promise<Response> {
	const etag = `"${file.object}"`;
	const isInline = !isDownload && isShownInline(file.mimetype);
	const headers: Record<string, string> = {
		...SECURITY_HEADERS,
		// A page of another origin that may call the API may also embed pictures.
		'cross-origin-resource-policy': services.cors ? 'cross-origin' : 'same-origin',
		'content-type': isInline ? file.mimetype : 'application/octet-stream',
		'content-disposition': `${isInline ? 'inline' : 'attachment'}; ${fileNameOf(file.name)}`,
		'cache-control': 'private, max-age=86400, immutable',
		'accept-ranges': 'bytes',
		vary: 'authorization',
		etag,
	};
	if (request.headers.get('if-none-match')?.includes(etag))
		return new Response(null, { status: 304, headers });
	const range = rangeOf(request.headers, file.size, etag);
	if (range === 'unsatisfiable')
		return new Response(null, {
			status: 416,
			headers: { ...headers, 'content-range': `bytes */${file.size}` },
		});
	const { start, end } = range ?? { start: 0, end: file.size };
	headers['content-length'] = String(end - start);
	if (range) headers['content-range'] = `bytes ${start}-${end - 1}/${file.size}`;
	const status = range ? 206 : 200;
	if (request.method === 'HEAD') return new Response(null, { status, headers });
	const body = await filesOf(services).contents.read(file.id, file.object, start, end);
	if (!body)
		throw new Error(`the content of ${file.id} is missing in the file storage: restore it from a backup`);
	return new Response(body, { status, headers });
}

/** RFC 6266: an ASCII name for old clients, the real name for all others. */
function fileNameOf(name: string): string {
	const plain = name.replace(/[^\x20-\x7e]|["\\%;]/g, '_');
	const encoded = encodeURIComponent(name.toWellFormed()).replace(
		/['()*!]/g,
		(letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
	);
	return `filename="${plain}"; filename*=UTF-8''${encoded}`;
}
