/** Calls the server's own methods, for commands that work through a running server. */

export class ApiError extends Error {
	constructor(
		url: string,
		method: string,
		readonly code: string,
		messages: readonly string[],
	) {
		super(
			code === 'invalid_auth'
				? `the server at ${url} does not know this administrator’s token. Set TIDEMARK_ADMIN_TOKEN to its token, or --data-dir to its directory.`
				: // The server names the argument: that is the cause, and where to look.
					[`${method} answered ${code}`, ...messages.map((one) => one.replace('[ERROR] ', ''))].join(': '),
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
		} catch {
			throw new Error(`no server answers at ${url}. Start one with 'tidemark serve', or give --url.`);
		}
		const answer = (await response.json()) as Answer;
		if (!answer.ok)
			throw new ApiError(url, method, answer.error ?? 'nothing', answer.response_metadata?.messages ?? []);
		return answer as T;
	};
}
