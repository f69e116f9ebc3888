import { ERRORS, type Rejection } from '../../model/errors.ts';
import type { JsonObject } from '../../protocol/objects.ts';
import type { MemoryBudget } from '../memory-budget.ts';
import { isLarge, streamed } from './large-answer.ts';

/**
 * Slack's envelope: HTTP 200 with `ok` for everything except rate limits (429) and outages (503), because Slack's
 * clients retry every status but 200.
 */

const HEADERS = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' };
/** Created once: a Response copies a Headers object faster than it reads a plain object. */
const OK: ResponseInit = { headers: new Headers(HEADERS) };

/**
 * A complete answer as JSON bytes, including `ok`: for answers that are too large to build as objects, or consist of JSON already.
 * `success` does not rewrite addresses in it.
 */
export class EncodedAnswer {
	constructor(
		readonly bytes: Uint8Array<ArrayBuffer>,
		/** Called once the bytes are copied into a response. */
		readonly release: () => void,
	) {}
}

export const answerFromJson = (json: string): EncodedAnswer =>
	new EncodedAnswer(new TextEncoder().encode(json), () => undefined);

export type Answer = JsonObject | EncodedAnswer;

/** The client that an answer is for, and the memory budget for large answers. */
export interface Receiver {
	readonly key: string;
	readonly budget: MemoryBudget;
	/** Rewrites addresses in JSON to the ones at which this client reaches the server. */
	readonly rewriteOrigin: (json: string) => string;
}

export function success(answer: Answer, receiver: Receiver): Response {
	if (!(answer instanceof EncodedAnswer))
		return jsonResponse(receiver.rewriteOrigin(JSON.stringify({ ok: true, ...answer })), receiver);
	const { bytes } = answer;
	const response = isLarge(bytes.length)
		? streamedResponse(new Uint8Array(bytes), receiver)
		: new Response(bytes, OK);
	answer.release();
	return response;
}

/** Like `success`, with line breaks for people who look at it in a browser: `pretty=1`, as at Slack. */
export function prettySuccess(answer: Answer, receiver: Receiver): Response {
	const whole =
		answer instanceof EncodedAnswer
			? JSON.parse(new TextDecoder().decode(answer.bytes))
			: { ok: true, ...answer };
	if (answer instanceof EncodedAnswer) answer.release();
	return jsonResponse(receiver.rewriteOrigin(JSON.stringify(whole, null, 2)), receiver);
}

const jsonResponse = (json: string, receiver: Receiver): Response =>
	isLarge(json.length) ? streamedResponse(new TextEncoder().encode(json), receiver) : new Response(json, OK);

const streamedResponse = (bytes: Uint8Array<ArrayBuffer>, { key, budget }: Receiver): Response =>
	new Response(streamed(bytes, key, budget), OK);

const UNAVAILABLE_RETRY_SECONDS = 1;

export function failure({ code, detail, retryAfterSeconds }: Rejection): Response {
	const { status } = ERRORS[code];
	const body = JSON.stringify({
		ok: false,
		error: code,
		...(detail === undefined ? {} : { response_metadata: { messages: [`[ERROR] ${detail}`] } }),
	});
	if (status === 200) return new Response(body, OK);
	const retryAfter = String(retryAfterSeconds ?? UNAVAILABLE_RETRY_SECONDS);
	return new Response(body, { status, headers: { ...HEADERS, 'retry-after': retryAfter } });
}

export const notFound = (): Response =>
	new Response('{"ok":false,"error":"unknown_method"}', { status: 404, headers: HEADERS });

/** The fields of a successful answer that carries a warning. */
export const warned = (warning: string): JsonObject => ({
	warning,
	response_metadata: { warnings: [warning] },
});
