/** Repeats, at the end of a run, what the failed tests printed: a log of many thousand lines is seldom kept whole. */

const LINES_PER_TEST = 40;
const ENDED = /^\((pass|fail)\) /;

/** Of each failed test the last lines before its verdict, without those of the test before it. */
export function failureExcerpts(output: string): string[] {
	const lines = output.split('\n');
	const excerpts: string[] = [];
	for (const [index, line] of lines.entries()) {
		if (!line.startsWith('(fail) ')) continue;
		let first = index;
		while (first > 0 && index - first < LINES_PER_TEST && !ENDED.test(lines[first - 1] ?? '')) first--;
		excerpts.push(lines.slice(first, index + 1).join('\n'));
	}
	return excerpts;
}
