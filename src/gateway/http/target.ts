/**
 * What a request line asks for. The address that Bun makes of it holds the client's Host header, and is no valid URL when that
 * is not a host: it is split by hand, never parsed.
 */

export interface Target {
	readonly path: string;
	readonly query: string;
}

/** `http://host/path?query`, or `/path?query` where the Host header is missing or unusable. */
export function targetOf(url: string): Target {
	const start = url.startsWith('/') ? 0 : url.indexOf('/', url.indexOf('://') + 3);
	const mark = url.indexOf('?', start);
	if (mark < 0) return { path: url.slice(start), query: '' };
	return { path: url.slice(start, mark), query: url.slice(mark + 1) };
}
