/** From `start` up to and excluding `end`. */
export interface ByteRange {
	readonly start: number;
	readonly end: number;
}

/**
 * Parses a Range header (RFC 9110) with one range. Null: serve everything, also for several ranges, and if the file is not the one that
 * `If-Range` names. `unsatisfiable`: the file has no byte of the range.
 */
export function rangeOf(
	headers: Pick<Headers, 'get'>,
	size: number,
	etag: string,
): ByteRange | 'unsatisfiable' | null {
	const range = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(headers.get('range')?.trim() ?? '');
	const condition = headers.get('if-range');
	if (!range || (condition !== null && condition !== etag)) return null;
	const [first = '', last = ''] = range.slice(1);
	if (first === '') {
		if (last === '') return null;
		const length = Math.min(Number(last), size);
		return length === 0 ? 'unsatisfiable' : { start: size - length, end: size };
	}
	const start = Number(first);
	if (start >= size) return 'unsatisfiable';
	const end = last === '' ? size : Math.min(Number(last) + 1, size);
	return end <= start ? null : { start, end };
}
