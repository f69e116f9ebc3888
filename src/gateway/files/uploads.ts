import type { FileRecord } from '../../engine/ports/files.ts';
import { Rejection } from '../../model/errors.ts';
import { IMAGE_HEAD_BYTES, imageSize } from '../../model/image-size.ts';
import { sameHash, tokenKey } from '../auth/tokens.ts';
import type { FileServices, Services } from '../services.ts';
import { BadMultipart, boundaryOf, fileOf } from './multipart.ts';

/**
 * Receives uploads at the address that `files.getUploadURLExternal` returned. Anyone with the address may upload
 * that one file until the upload is completed. The content is the body, or the file of a multipart form, with
 * exactly the announced length. It is streamed to the file storage; the answer follows when it is durable.
 */

export const UPLOAD_PATH = '/upload/v1/';

/** Allowance for the boundaries and headers of a form. */
export const MAX_FORM_BYTES = 64 * 1024;

class UploadRejected extends Error {
	constructor(
		readonly status: number,
		message: string,
	) {
		super(message);
	}
}

export async function serveUpload(
	path: string,
	request: Request,
	services: Services,
	address: string | null,
): Promise<Response> {
	try {
		const size = await upload(path, request, services, address);
		return answer(200, `OK - ${size}`);
	} catch (error) {
		const { status, message, retryAfter } = rejectionOf(error);
		if (status >= 500) services.operations.failed('upload', error);
		const response = answer(status, message);
		if (retryAfter !== undefined) response.headers.set('retry-after', String(retryAfter));
		// The client may still be sending; the rest is not read.
		response.headers.set('connection', 'close');
		return response;
	}
}

const answer = (status: number, text: string): Response =>
	new Response(`${text}\n`, {
		status,
		headers: { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' },
	});

function rejectionOf(error: unknown): { status: number; message: string; retryAfter?: number } {
	if (error instanceof UploadRejected) return { status: error.status, message: error.message };
	if (error instanceof BadMultipart) return { status: 400, message: `invalid form: ${error.message}` };
	if (error instanceof Rejection && error.code === 'ratelimited')
		return { status: 429, message: error.code, retryAfter: error.retryAfterSeconds ?? 1 };
	// The client has disconnected and does not see this answer.
	if ((error as Error).name === 'AbortError') return { status: 400, message: 'the upload was cut off' };
	return { status: 503, message: 'the file could not be stored; retry', retryAfter: 1 };
}

async function upload(
	path: string,
	request: Request,
	services: Services,
	address: string | null,
): Promise<number> {
	if (request.method !== 'POST' && request.method !== 'PUT')
		throw new UploadRejected(405, 'send the file with POST or PUT');
	services.anonymousLimits.admit(address);
	const { files } = services;
	const file = files && (await fileAt(path.slice(UPLOAD_PATH.length), files));
	if (!files || !file) {
		services.anonymousLimits.failed(address);
		throw new UploadRejected(404, 'no such upload: request a new URL with files.getUploadURLExternal');
	}
	const wait = services.limits.take(file.user, 'requests');
	if (wait > 0) throw new Rejection('ratelimited', undefined, wait);
	await store(file, request, files, Buffer.from(services.random(12)).toString('hex'));
	return file.size;
}

async function fileAt(idAndSecret: string, { records }: FileServices): Promise<FileRecord | null> {
	const [id = '', secret = ''] = idAndSecret.split('-', 2);
	const [file] = /^F[A-Z0-9]{2,20}$/.test(id) ? await records.get([id]) : [];
	if (!file || !sameHash(file.secret, tokenKey(secret))) return null;
	if (file.state === 'complete') throw new UploadRejected(410, 'this upload is already completed');
	return file.state === 'awaited' || file.state === 'stored' ? file : null;
}

async function store(file: FileRecord, request: Request, files: FileServices, object: string): Promise<void> {
	const { records, contents } = files;
	const content = new LengthCheckedContent(contentOf(file, request), file.size);
	await contents.write(file.id, object, content);
	const isUsed = await records.uploaded(file.id, object, imageSize(content.head) ?? { width: 0, height: 0 });
	// If the file is uploaded again, the newer object is used; completing the upload removes the older ones.
	if (isUsed) return;
	await contents.discard(file.id, object);
	throw new UploadRejected(410, 'this upload is already completed, or took too long');
}

function contentOf({ size }: FileRecord, request: Request): AsyncIterable<Uint8Array> {
	const boundary = boundaryOf(request.headers.get('content-type') ?? '');
	const announced = request.headers.get('content-length');
	const maxBytes = boundary === null ? size : size + MAX_FORM_BYTES;
	if (announced !== null && Number(announced) > maxBytes) throw tooLong(size);
	if (announced !== null && Number(announced) < size) throw tooShort(Number(announced), size);
	const body = request.body ?? new ReadableStream({ start: (controller) => controller.close() });
	return boundary === null ? body : fileOf(body, boundary);
}

const tooLong = (size: number): UploadRejected =>
	new UploadRejected(413, `the file is longer than the announced ${size} bytes`);
const tooShort = (bytes: number, size: number): UploadRejected =>
	new UploadRejected(400, `the file has ${bytes} bytes instead of the announced ${size}`);

/** Passes content on while checking its length, and keeps its first bytes. */
class LengthCheckedContent implements AsyncIterable<Uint8Array> {
	private readonly beginning: Uint8Array[] = [];
	private bytes = 0;

	constructor(
		private readonly content: AsyncIterable<Uint8Array>,
		private readonly size: number,
	) {}

	get head(): Uint8Array {
		return Buffer.concat(this.beginning).subarray(0, IMAGE_HEAD_BYTES);
	}

	async *[Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
		for await (const chunk of this.content) {
			if (this.bytes < IMAGE_HEAD_BYTES)
				this.beginning.push(Buffer.from(chunk.subarray(0, IMAGE_HEAD_BYTES - this.bytes)));
			this.bytes += chunk.byteLength;
			if (this.bytes > this.size) throw tooLong(this.size);
			yield chunk;
		}
		if (this.bytes < this.size) throw tooShort(this.bytes, this.size);
	}
}
