import { Rejection } from '../../model/errors.ts';

/**
 * Reads arguments from the query, a form, a multipart form or a JSON object; the body wins over the query. Values
 * are texts, or any JSON value; arguments.ts interprets them.
 */

export type RawArguments = Map<string, unknown>;

export const MAX_BODY_BYTES = 1024 * 1024;

/** Adds the arguments in the body to those of the query. */
export async function readBody(raw: RawArguments, request: Request): Promise<RawArguments> {
	if (request.method === 'GET') return raw;
	if (request.method !== 'POST') throw new Rejection('invalid_post_type', 'use GET or POST');
	const contentType = request.headers.get('content-type') ?? '';
	const [mediaType, charset] = parseContentType(contentType);
	if (charset !== null && charset !== 'utf-8' && charset !== 'utf8' && charset !== 'us-ascii')
		throw new Rejection('invalid_charset', `charset ${charset.slice(0, 40)} is not supported: send UTF-8`);
	switch (mediaType) {
		case 'application/x-www-form-urlencoded':
			return addForm(raw, await readText(request));
		case 'application/json':
			return addJson(raw, await readText(request));
		case 'multipart/form-data':
			return addMultipart(raw, await readBytes(request), contentType);
		default: {
			const text = await readText(request);
			if (text === '') return raw;
			throw new Rejection('invalid_post_type', `${mediaType || 'a missing'} content type is not supported`);
		}
	}
}

function parseContentType(header: string): [mediaType: string, charset: string | null] {
	const end = header.indexOf(';');
	if (end < 0) return [header.trim().toLowerCase(), null];
	const charset = /;\s*charset="?([^";\s]+)/i.exec(header)?.[1];
	return [header.slice(0, end).trim().toLowerCase(), charset?.toLowerCase() ?? null];
}

/** A parser of our own: most calls are forms, and this takes a fraction of the time of URLSearchParams. */
export function addForm(raw: RawArguments, text: string): RawArguments {
	for (let start = 0; start < text.length; ) {
		const found = text.indexOf('&', start);
		const end = found < 0 ? text.length : found;
		if (end > start) {
			// Search for `=` only within the pair: a search up to the end of the text for each pair would take quadratic time.
			const pair = text.slice(start, end);
			const equals = pair.indexOf('=');
			if (equals < 0) raw.set(decode(pair), '');
			else raw.set(decode(pair.slice(0, equals)), decode(pair.slice(equals + 1)));
		}
		start = end + 1;
	}
	return raw;
}

function decode(text: string): string {
	if (!text.includes('%') && !text.includes('+')) return text;
	const spaced = text.replaceAll('+', ' ');
	try {
		return decodeURIComponent(spaced);
	} catch {
		throw new Rejection('invalid_form_data', 'the query or form is not percent-encoded UTF-8');
	}
}

function addJson(raw: RawArguments, text: string): RawArguments {
	if (text.trim() === '') return raw;
	let body: unknown;
	try {
		body = JSON.parse(text);
	} catch {
		throw new Rejection('invalid_json', 'the body is not JSON');
	}
	if (typeof body !== 'object' || body === null || Array.isArray(body))
		throw new Rejection('json_not_object', 'the body is not a JSON object');
	for (const [name, value] of Object.entries(body)) raw.set(name, value);
	return raw;
}

async function addMultipart(
	raw: RawArguments,
	bytes: Uint8Array,
	contentType: string,
): Promise<RawArguments> {
	try {
		const form = await new Response(bytes, { headers: { 'content-type': contentType } }).formData();
		form.forEach((value, name) => {
			raw.set(name, value);
		});
		return raw;
	} catch {
		throw new Rejection('invalid_form_data', 'the multipart body cannot be read');
	}
}

/** Checks a declared length before reading, otherwise the length while reading. */
export async function readText(request: Request): Promise<string> {
	const contentLength = request.headers.get('content-length');
	if (contentLength === null) return new TextDecoder().decode(await readStream(request));
	checkLength(Number(contentLength));
	return request.text();
}

async function readBytes(request: Request): Promise<Uint8Array> {
	const contentLength = request.headers.get('content-length');
	if (contentLength === null) return readStream(request);
	checkLength(Number(contentLength));
	return new Uint8Array(await request.arrayBuffer());
}

async function readStream(request: Request): Promise<Uint8Array> {
	const chunks: Uint8Array[] = [];
	let length = 0;
	for await (const chunk of request.body ?? []) {
		length += chunk.byteLength;
		checkLength(length);
		chunks.push(chunk);
	}
	return Buffer.concat(chunks, length);
}

function checkLength(bytes: number): void {
	if (!(bytes <= MAX_BODY_BYTES))
		throw new Rejection('request_too_large', `a body may have at most ${MAX_BODY_BYTES} bytes`);
}
