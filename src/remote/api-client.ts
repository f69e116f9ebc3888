/** Calls the server's API, for commands that use a running server. */

const RIGHT_TOKEN =
	'Set TIDEMARK_ADMIN_TOKEN to its token, or --data-dir to its directory; if you meant another server, correct --url.';

/** Errors that the user of the command can fix. */
const ADVICE: Readonly<Record<string, string>> = {
	invalid_auth: `does not recognise this administrator’s token. ${RIGHT_TOKEN}`,
	not_allowed_token_type: `needs the administrator’s token; this is a user’s. ${RIGHT_TOKEN}`,
	ratelimited:
		'rejected the request because of a rate limit. Try again later, or start it with higher limits: --requests-per-second for users, --anonymous-per-second for requests without a valid token (0: no limit).',
};

/** Error code of Bun's fetch when the other side does not speak TLS. */
const TLS_FAILED = 'EPROTO';

export class ApiError extends Error {
	constructor(
		url: string,
		method: string,
		readonly code: string,
		messages: readonly string[],
	) {
		const advice = ADVICE[code];
		super(
			advice === undefined
				? // The server's message names the argument.
					[`${method} answered ${code}`, ...messages.map((one) => one.replace('[ERROR] ', ''))].join(': ')
				: `the server at ${url} ${advice}`,
		);
		this.name = 'ApiError';
	}
}

interface Answer {
	readonly ok: boolean;
	readonly error?: string;
	readonly response_metadata?: { readonly messages?: readonly string[] };
}

export type ApiCall = <T = Record<string, unknown>>(
	method: string,
	args: Readonly<Record<string, unknown>>,
) => Promise<T>;

export function apiClient(url: string, token: string): ApiCall {
	return async <T>(method: string, args: Readonly<Record<string, unknown>>): Promise<T> => {
		let response: Response;
		try {
			response = await fetch(`${url}/api/${method}`, {
				method: 'POST',
				headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
				body: JSON.stringify(args),
			});
		} catch (error) {
			throw new Error(unreachable(url, error));
		}
		const answer = (await response.json().catch(() => null)) as Answer | null;
		if (answer === null || typeof answer.ok !== 'boolean')
			throw new Error(`the server at ${url} is not Tidemark (HTTP ${response.status}). Check --url.`);
		if (!answer.ok)
			throw new ApiError(url, method, answer.error ?? 'nothing', answer.response_metadata?.messages ?? []);
		return answer as T;
	};
}

const unreachable = (url: string, error: unknown): string =>
	(error as { code?: string }).code === TLS_FAILED
		? `the server at ${url} does not serve https. Tidemark serves plain http; a proxy in front of it adds https. Check --url.`
		: `no server answers at ${url}. Start one with 'tidemark serve', or give --url.`;
