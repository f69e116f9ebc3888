/** Calls the server's own methods, for commands that work through a running server. */

const RIGHT_TOKEN =
	'Set TIDEMARK_ADMIN_TOKEN to its token, or --data-dir to its directory; or look at --url, if it is another server than you mean.';

/** Refusals that a command cannot do anything about, and whoever runs it can. */
const ADVICE: Readonly<Record<string, string>> = {
	invalid_auth: `does not know this administrator’s token. ${RIGHT_TOKEN}`,
	not_allowed_token_type: `takes this token for a user’s, not for its administrator’s. ${RIGHT_TOKEN}`,
	ratelimited:
		'limits how much one user may ask for. Start it with a higher --requests-per-second (0: no limit).',
};

/** Of Bun's fetch, whose handshake was answered with something else. */
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
				? // The server names the argument: that is the cause, and where to look.
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
			throw new Error(
				`what answers at ${url} does not speak as Tidemark does (HTTP ${response.status}). Look at --url.`,
			);
		if (!answer.ok)
			throw new ApiError(url, method, answer.error ?? 'nothing', answer.response_metadata?.messages ?? []);
		return answer as T;
	};
}

const unreachable = (url: string, error: unknown): string =>
	(error as { code?: string }).code === TLS_FAILED
		? `what answers at ${url} does not speak https. Tidemark itself speaks plain http, and leaves https to a proxy in front of it: look at --url.`
		: `no server answers at ${url}. Start one with 'tidemark serve', or give --url.`;
