import { run } from './command.ts';
import { failureExcerpts } from './excerpts.ts';
import type { Group } from './groups.ts';
import type { Job, RunResult } from './jobs.ts';
import type { Services } from './services.ts';

/** Runs the tests of a group in their own Bun process, and counts the results in its report. A missing result counts as a failure. */

/** Only for tests that hang: on a busy machine tests take ten times as long as usual. */
const TEST_TIMEOUT_MS = 300_000;

export const testGroup = (group: Group, services: Services, result: RunResult): Job => ({
	title: `${group.name} (${group.files.length} ${group.files.length === 1 ? 'file' : 'files'})`,
	run: async (output) => {
		const found = await services.of(group.services);
		if ('problem' in found) result.failures.push(`${group.name}: ${found.problem}`);
		else await runFiles(group, found.env, output, result);
	},
});

async function runFiles(
	{ name, files }: Group,
	env: Readonly<Record<string, string>>,
	output: string,
	result: RunResult,
): Promise<void> {
	const { failures } = result;
	const reportFile = `${output}.xml`;
	const code = await run(
		[
			process.execPath,
			'test',
			`--timeout=${TEST_TIMEOUT_MS}`,
			'--reporter=junit',
			`--reporter-outfile=${reportFile}`,
			...files.map((file) => `./${file}`),
		],
		output,
		// With CI set, Bun rejects test.only, which would silently skip the other tests.
		{ CI: 'true', ...env },
	);
	result.excerpts.push(...failureExcerpts(await Bun.file(output).text()));
	const report = Bun.file(reportFile);
	if (!(await report.exists())) {
		failures.push(`${name}: ended without a report (exit ${code})`);
		return;
	}
	const failuresBefore = failures.length;
	const reported = countReport(await report.text(), result);
	for (const file of files) {
		if (!reported.has(file)) failures.push(`${file}: reported no test (did it load?)`);
	}
	// An error outside of tests shows only in the exit code, if the file's tests pass.
	if (code !== 0 && failures.length === failuresBefore)
		failures.push(`${name}: exit ${code} outside of a test`);
}

/** Counts the tests of a JUnit report; returns the files that they came from. */
function countReport(junit: string, result: RunResult): Set<string> {
	const files = new Set<string>();
	for (const [, tag = '', body = ''] of junit.matchAll(/<testcase\b([^>]*?)(?:\/>|>(.*?)<\/testcase>)/gs)) {
		const attribute = (name: string) => unescapeXml(new RegExp(`\\b${name}="([^"]*)"`).exec(tag)?.[1] ?? '');
		files.add(attribute('file'));
		const name = [attribute('file'), attribute('classname'), attribute('name')].filter(Boolean).join(' > ');
		if (body.includes('<skipped')) result.failures.push(`${name}: skipped or todo`);
		else if (/<(failure|error)\b/.test(body)) result.failures.push(name);
		else result.passed++;
	}
	return files;
}

function unescapeXml(text: string): string {
	const entities: Record<string, string> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };
	return text.replace(/&(\w+);/g, (entity, name: string) => entities[name] ?? entity);
}
