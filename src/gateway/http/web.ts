import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { bundleWeb, isWebPath, NOT_FOUND, type WebFile, type WebFiles } from './web-bundle.ts';

/** Serves the web interface: compressed once, and cached by browsers until it changes. */

type Encoding = 'br' | 'gzip' | 'identity';

/**
 * Only scripts and styles of this server run, and none inline, so that markup in a message cannot run code. Images
 * may be data URLs, for the badge drawn onto the icon, and blobs, for files before they are sent. Frames are for
 * /devices, the worker for notifications.
 */
const POLICY = [
	"default-src 'none'",
	"script-src 'self'",
	"style-src 'self'",
	"img-src 'self' data: blob:",
	"connect-src 'self'",
	"frame-src 'self'",
	"worker-src 'self'",
	"manifest-src 'self'",
	"frame-ancestors 'self'",
	"base-uri 'none'",
	"form-action 'none'",
].join('; ');

const SECURITY_HEADERS = {
	'content-security-policy': POLICY,
	'x-content-type-options': 'nosniff',
	'referrer-policy': 'no-referrer',
	'cross-origin-opener-policy': 'same-origin',
};

class ServedFile {
	readonly etag: string;
	/** Blobs: Bun sends a blob without copying it for every visitor. */
	private readonly bodies = new Map<Encoding, Promise<Blob>>();

	constructor(private readonly file: WebFile) {
		this.etag = new Bun.CryptoHasher('sha256').update(file.bytes).digest('base64url').slice(0, 22);
	}

	async answer(request: Request): Promise<Response> {
		const { type, isImmutable } = this.file;
		const encoding = encodingOf(request.headers.get('accept-encoding') ?? '');
		const etag = `"${this.etag}-${encoding}"`;
		const headers = {
			...SECURITY_HEADERS,
			etag,
			vary: 'accept-encoding',
			'cache-control': isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache',
		};
		if (request.headers.get('if-none-match')?.includes(etag))
			return new Response(null, { status: 304, headers });
		const body = await this.body(encoding);
		return new Response(request.method === 'HEAD' ? null : body, {
			headers: {
				...headers,
				'content-type': type,
				...(encoding === 'identity' ? {} : { 'content-encoding': encoding }),
			},
		});
	}

	/** Serves this file for another path: not cacheable. */
	async answerForUnknownPath(request: Request, status: number): Promise<Response> {
		return new Response(request.method === 'HEAD' ? null : await this.body('identity'), {
			status,
			headers: {
				...SECURITY_HEADERS,
				'content-type': this.file.type,
				'cache-control': 'no-store',
				vary: 'accept',
			},
		});
	}

	private body(encoding: Encoding): Promise<Blob> {
		const known = this.bodies.get(encoding);
		if (known) return known;
		const made = encode(this.file.bytes, encoding).then((bytes) => new Blob([bytes]));
		this.bodies.set(encoding, made);
		return made;
	}
}

const encodingOf = (accepted: string): Encoding =>
	/\bbr\b/.test(accepted) ? 'br' : /\bgzip\b/.test(accepted) ? 'gzip' : 'identity';

/** Higher qualities take far longer for a few percent; the first visitor waits for the compression. */
const BROTLI_QUALITY = 6;

async function encode(bytes: Uint8Array<ArrayBuffer>, encoding: Encoding): Promise<Uint8Array<ArrayBuffer>> {
	if (encoding === 'identity') return bytes;
	const options = { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } };
	return new Uint8Array(
		await (encoding === 'br' ? promisify(brotliCompress)(bytes, options) : promisify(gzip)(bytes)),
	);
}

/** One bundle per process, even if several servers run in it. */
let bundled: Promise<ReadonlyMap<string, ServedFile>> | undefined;

const served = (files: WebFiles): ReadonlyMap<string, ServedFile> =>
	new Map([...files].map(([path, file]) => [path, new ServedFile(file)]));

const isRead = ({ method }: Request): boolean => method === 'GET' || method === 'HEAD';

/** Null: the web interface has no such file, or the request is neither GET nor HEAD. */
export async function serveWeb(path: string, request: Request): Promise<Response | null> {
	if (!isWebPath(path) || !isRead(request)) return null;
	return (await files()).get(path)?.answer(request) ?? null;
}

/** The page for an unknown address, if a browser requests a page; null otherwise. */
export async function serveNotFound(request: Request): Promise<Response | null> {
	if (!isRead(request) || !request.headers.get('accept')?.includes('text/html')) return null;
	return (await files()).get(NOT_FOUND)?.answerForUnknownPath(request, 404) ?? null;
}

async function files(): Promise<ReadonlyMap<string, ServedFile>> {
	bundled ??= bundleWeb().then(served);
	try {
		return await bundled;
	} catch (error) {
		// The next request retries: a missing file may have been installed by then.
		bundled = undefined;
		throw error;
	}
}
