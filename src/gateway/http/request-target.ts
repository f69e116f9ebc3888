/**
 * Splits a request line into path and query. Bun builds `request.url` with the client's Host header, and an invalid
 * host makes an invalid URL: so this splits the text instead of parsing a URL.
 */

export interface RequestTarget {
	readonly path: string;
	readonly query: string;
}

/** `http://host/path?query`, or `/path?query` if the Host header is missing or invalid. */
export function requestTargetOf(url: string): RequestTarget {
	const start = url.startsWith('/') ? 0 : url.indexOf('/', url.indexOf('://') + 3);
	const questionMark = url.indexOf('?', start);
	if (questionMark < 0) return { path: url.slice(start), query: '' };
	return { path: url.slice(start, questionMark), query: url.slice(questionMark + 1) };
}
