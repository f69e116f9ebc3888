import type { Answer, Api } from './api.ts';
import { ApiError } from './errors.ts';
import type { UploadOptions, UploadSource } from './public.ts';
import type { SharedFile } from './types.ts';
import { toFile } from './wire.ts';

/** Uploads files one after the other, and shares them with one message when all are uploaded. */
export async function uploadFiles(
	api: Api,
	sources: readonly UploadSource[],
	options: UploadOptions = {},
): Promise<readonly SharedFile[]> {
	const { channel, threadTs, comment, signal, onUploaded } = options;
	const ids = options.uploaded ?? (await uploadAll(api, sources, options));
	onUploaded?.(ids);
	signal?.throwIfAborted();
	// Idempotent: repeating it shares nothing twice.
	const { files } = await api.callIdempotent('files.completeUploadExternal', {
		files: sources.map(({ title }, index) => ({ id: ids[index], ...(title ? { title } : {}) })),
		...(channel ? { channel_id: channel } : {}),
		...(threadTs ? { thread_ts: threadTs } : {}),
		...(comment ? { initial_comment: comment } : {}),
	});
	return files.map(toFile);
}

/** Returns the ids of the files. */
async function uploadAll(
	api: Api,
	sources: readonly UploadSource[],
	{ onProgress, signal }: UploadOptions,
): Promise<readonly string[]> {
	const total = sources.reduce((sum, { content }) => sum + content.size, 0);
	const uploads: { id: string; url: string; content: Blob }[] = [];
	onProgress?.(0, total);
	// Request all upload URLs first: a file that is too large is rejected before any byte is sent.
	for (const { content, name, altText } of sources) {
		signal?.throwIfAborted();
		const upload: Answer = await api.call('files.getUploadURLExternal', {
			filename: name,
			length: content.size,
			...(altText ? { alt_txt: altText } : {}),
		});
		uploads.push({ id: upload.file_id, url: api.reachableUrl(upload.upload_url), content });
	}
	let done = 0;
	for (const { url, content } of uploads) {
		signal?.throwIfAborted();
		await send(api.platform.fetch, url, content, signal, (sent) => onProgress?.(done + sent, total));
		done += content.size;
		onProgress?.(done, total);
	}
	return uploads.map(({ id }) => id);
}

type Fetch = typeof fetch;

/** Uses XMLHttpRequest in browsers, because fetch does not report upload progress. */
async function send(
	fetch: Fetch,
	url: string,
	content: Blob,
	signal: AbortSignal | undefined,
	onProgress: (sent: number) => void,
): Promise<void> {
	const { XMLHttpRequest } = globalThis as { XMLHttpRequest?: new () => UploadRequest };
	const status = XMLHttpRequest
		? await sendWithProgress(new XMLHttpRequest(), url, content, signal, onProgress)
		: await sendWithFetch(fetch, url, content, signal);
	signal?.throwIfAborted();
	if (status === 200) return;
	throw new ApiError(status === 0 ? 'network_error' : 'upload_failed', 'upload', 'safe', 0, [
		`HTTP ${status}`,
	]);
}

const sendWithFetch = (
	fetch: Fetch,
	url: string,
	body: Blob,
	signal: AbortSignal | undefined,
): Promise<number> =>
	fetch(url, { method: 'POST', body, headers: BYTES, ...(signal ? { signal } : {}) }).then(
		({ status }) => status,
		() => 0,
	);

/** Sends the content as it is: without this header, the type of the Blob would be sent, which could be a form's. */
const BYTES = { 'content-type': 'application/octet-stream' };

/** The part of an XMLHttpRequest that is used. */
interface UploadRequest {
	readonly upload: { onprogress: ((event: { readonly loaded: number }) => void) | null };
	readonly status: number;
	onloadend: (() => void) | null;
	open(method: string, url: string): void;
	setRequestHeader(name: string, value: string): void;
	send(body: Blob): void;
	abort(): void;
}

function sendWithProgress(
	request: UploadRequest,
	url: string,
	content: Blob,
	signal: AbortSignal | undefined,
	onProgress: (sent: number) => void,
): Promise<number> {
	return new Promise((resolve) => {
		request.upload.onprogress = ({ loaded }) => onProgress(loaded);
		request.onloadend = () => resolve(request.status);
		signal?.addEventListener('abort', () => request.abort(), { once: true });
		request.open('POST', url);
		request.setRequestHeader('content-type', BYTES['content-type']);
		request.send(content);
	});
}
