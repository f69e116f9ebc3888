/** What `/readyz` reports as degraded, and since when. */

export interface Degraded {
	readonly what: string;
	readonly cause: string;
	/** Milliseconds since 1970: the time that the server reports, or when this page first saw the problem. */
	readonly since: number;
}

const LINE = /^([^:,]+)(?:, since (\S+?Z))?(?:: (.*))?$/s;

export function degradedFrom(
	lines: readonly string[],
	before: readonly Degraded[],
	now: number,
): readonly Degraded[] {
	return lines.map((line) => {
		const [, what = line, since, cause = ''] = LINE.exec(line) ?? [];
		const seen = before.find((one) => one.what === what)?.since ?? now;
		return { what, cause, since: since ? Date.parse(since) : seen };
	});
}
