/** What the server refused, or that it could not be asked. */
export class ApiError extends Error {
	constructor(
		/** An error code of the server's, or `network_error`. */
		readonly code: string,
		readonly method: string,
		/** Whether the same call may succeed later. `safe`: it changed nothing; `unknown`: it may have been done. */
		readonly retry: 'no' | 'safe' | 'unknown' = 'no',
		readonly retryAfterMs = 0,
		/** What the server says about it: which argument is at fault. */
		readonly details: readonly string[] = [],
	) {
		super([`${method}: ${code}`, ...details].join('; '));
		this.name = 'ApiError';
	}
}

export const codeOf = (error: unknown): string =>
	error instanceof ApiError ? error.code : error instanceof Error ? error.message : String(error);
