import { backoffMs } from './backoff.ts';
import { ApiError } from './errors.ts';
import { type Platform, sleep } from './platform.ts';
import type { ClientOptions } from './public.ts';

/** Calls the Web API, and retries calls that are safe to retry. */

export type Arguments = Readonly<Record<string, unknown>>;
// biome-ignore lint/suspicious/noExplicitAny: answers are read field by field, where they are used
export type Answer = any;

/** Longer than the server's own timeout. */
const TIMEOUT_MS = 40_000;
const ATTEMPTS = 4;
/** A new token may be accepted. After other errors that reject the token, the user has to sign in again. */
const RENEWABLE = new Set(['token_expired', 'invalid_auth', 'token_revoked']);

export class Api {
	private token: string | undefined;

	constructor(
		private readonly address: string,
		private readonly source: ClientOptions['token'],
		readonly platform: Platform,
	) {}

	/**
	 * For calls that must not run twice. Retries only after a rate limit: then the server certainly did nothing.
	 */
	async call(method: string, args: Arguments = {}): Promise<Answer> {
		return this.repeat(method, args, (error) => error.retry === 'safe');
	}

	/** For reads and idempotent changes: also retries if the server may have run the call. */
	async callIdempotent(method: string, args: Arguments = {}): Promise<Answer> {
		return this.repeat(method, args, (error) => error.retry !== 'no');
	}

	private async repeat(method: string, args: Arguments, mayRepeat: (error: ApiError) => boolean) {
		for (let attempt = 0; ; attempt += 1) {
			try {
				return await this.callOnce(method, args);
			} catch (error) {
				if (!(error instanceof ApiError) || attempt + 1 === ATTEMPTS || !mayRepeat(error)) throw error;
				await sleep(this.platform, error.retryAfterMs + backoffMs(attempt, this.platform.random));
			}
		}
	}

	/** Iterates over all pages of a list. */
	async *pages(method: string, args: Arguments): AsyncGenerator<Answer> {
		let cursor = '';
		do {
			const page = await this.callIdempotent(method, { ...args, ...(cursor ? { cursor } : {}) });
			yield page;
			cursor = page.response_metadata?.next_cursor ?? '';
		} while (cursor !== '');
	}

	/** One attempt, and a second one with a new token if the server rejects the token as expired, revoked or invalid. */
	async callOnce(method: string, args: Arguments = {}): Promise<Answer> {
		const hadToken = this.token !== undefined;
		try {
			return await this.send(method, args);
		} catch (error) {
			const mayBeRenewed = error instanceof ApiError && RENEWABLE.has(error.code);
			if (!mayBeRenewed || !hadToken || typeof this.source === 'string') throw error;
			this.forgetToken();
			return this.send(method, args);
		}
	}

	/**
	 * Rewrites a URL that the server sent to the address at which this client reaches the server: behind a proxy, the
	 * server may know itself by another address.
	 */
	reachableUrl(url: string): string {
		const { pathname, search } = new URL(url);
		return `${this.address}${pathname}${search}`;
	}

	/** Makes the next call request a new token. */
	forgetToken(): void {
		this.token = undefined;
	}

	private async send(method: string, args: Arguments): Promise<Answer> {
		this.token ??= typeof this.source === 'string' ? this.source : await this.source();
		const authorization = `Bearer ${this.token}`;
		// Calls with bytes are sent as a form. For a form, fetch sets the content type, including its boundary.
		const isForm = Object.values(args).some((value) => value instanceof Blob);
		const request: RequestInit = {
			method: 'POST',
			headers: isForm
				? { authorization }
				: { authorization, 'content-type': 'application/json; charset=utf-8' },
			body: isForm ? formOf(args) : JSON.stringify(args),
			signal: AbortSignal.timeout(TIMEOUT_MS),
		};
		let answer: Answer;
		let wait = 0;
		try {
			const response = await this.platform.fetch(`${this.address}/api/${method}`, request);
			wait = (Number(response.headers.get('retry-after')) || 0) * 1000;
			answer = await response.json();
		} catch {
			// There was no answer, or a proxy answered something that is not JSON.
			throw new ApiError('network_error', method, 'unknown');
		}
		if (answer?.ok) return answer;
		// A proxy answered with JSON of its own.
		if (!answer?.error) throw new ApiError('network_error', method, 'unknown', wait);
		throw errorOf(method, answer, wait);
	}
}

function formOf(args: Arguments): FormData {
	const form = new FormData();
	for (const [name, value] of Object.entries(args))
		if (value instanceof Blob) form.set(name, value);
		else form.set(name, typeof value === 'object' ? JSON.stringify(value) : String(value));
	return form;
}

/**
 * After these errors, the server may have made the change. After `service_unavailable` only a mark may have taken effect, but the client
 * assumes it of every call.
 */
const OUTCOME_UNKNOWN: ReadonlySet<string> = new Set(['service_unavailable', 'outcome_unknown']);

function errorOf(method: string, answer: Answer, retryAfterMs: number): ApiError {
	const code: string = answer.error;
	const retry = code === 'ratelimited' ? 'safe' : OUTCOME_UNKNOWN.has(code) ? 'unknown' : 'no';
	return new ApiError(code, method, retry, retryAfterMs, answer.response_metadata?.messages ?? []);
}
