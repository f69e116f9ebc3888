/** An error of the server, or a failure to reach it. */
export class ApiError extends Error {
	constructor(
		/**
		 * An error code of the server, or one of the SDK: `network_error`, `disconnected`, `discarded`, `outcome_unknown`, `upload_failed`, or the
		 * reason of a closed socket.
		 */
		readonly code: string,
		readonly method: string,
		/** Whether to retry. `safe`: the call changed nothing; `unknown`: it may have succeeded. */
		readonly retry: 'no' | 'safe' | 'unknown' = 'no',
		readonly retryAfterMs = 0,
		/** Details from the server, such as the name of a wrong argument. */
		readonly details: readonly string[] = [],
	) {
		super([`${method}: ${code}`, ...details].join('; '));
		this.name = 'ApiError';
	}
}

export const codeOf = (error: unknown): string =>
	error instanceof ApiError ? error.code : error instanceof Error ? error.message : String(error);

const TOKEN_REJECTED: ReadonlySet<string> = new Set([
	'not_authed',
	'invalid_auth',
	'account_inactive',
	'token_revoked',
	'token_expired',
	'not_allowed_token_type',
]);

/** Whether this error rejects the token itself, so that every further call would fail too. After any other error, the token may still work. */
export const isTokenRejected = (code: string): boolean => TOKEN_REJECTED.has(code);
