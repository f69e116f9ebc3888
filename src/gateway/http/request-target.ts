/**
 * Splits the URL of a request into path and query. It does not parse the URL, because Bun builds `request.url` with
 * the client's Host header, and an invalid header makes an invalid URL.
 */

export interface RequestTarget {
	readonly path: string;
	readonly query: string;
}

/** `url` is `http://host/path?query`, or `/path?query` if the Host header is missing or invalid. */
export function requestTargetOf(url: string): RequestTarget {
	const start = url.startsWith('/') ? 0 : url.indexOf('/', url.indexOf('://') + 3);
	const questionMark = url.indexOf('?', start);
	if (questionMark < 0) return { path: url.slice(start), query: '' };
	return { path: url.slice(start, questionMark), query: url.slice(questionMark + 1) };
}
