/** Repeats the output of failed tests at the end of a run, because long logs are often truncated. */

const LINES_PER_TEST = 40;
const ENDED = /^\((pass|fail)\) /;

/** For each failed test, its last lines of output, without those of the previous test. */
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
