// `npm test`: runs the static checks and every test file, with one Bun process per group, so that a crash affects only its
// group. Tests that need PostgreSQL, Redis or Kafka form their own groups; scripts/services starts real services for them, or
// the services in the TIDEMARK_TEST_… variables are used. Several groups run in parallel. Nothing is skipped silently: a skipped
// or todo test, a group that ends without a report and a filter that matches no file are failures. The last line is always
// `N passed, M failed`.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findGroups, testFiles } from './testing/groups.ts';
import { type RunResult, runInParallel } from './testing/jobs.ts';
import { startServices } from './testing/services.ts';
import { staticChecks } from './testing/static-checks.ts';
import { testGroup } from './testing/test-group.ts';

const HELP = `npm test                        the static checks and all tests
npm test -- test/contract …     only the test files whose path contains one of the words; no static checks
npm test -- --static            only the static checks (npm run check)`;

/** Number of groups to start before the static checks: the longest ones. */
const AHEAD_OF_CHECKS = 2;

const args = process.argv.slice(2);
if (args.includes('--help')) {
	console.log(HELP);
	process.exit(0);
}
const filters = args.filter((arg) => arg !== '--static').map((arg) => arg.replace(/^\.\//, ''));
const result: RunResult = { passed: 0, failures: [], excerpts: [] };
const { failures } = result;

const files = args.includes('--static') ? [] : testFiles();
for (const filter of filters) {
	if (!files.some((file) => file.includes(filter))) failures.push(`${filter}: matches no test file`);
}
const chosen = files.filter(
	(file) => filters.length === 0 || filters.some((filter) => file.includes(filter)),
);
const groups = findGroups(chosen);
const checks = filters.length === 0 ? staticChecks(result) : [];
if (chosen.length + checks.length === 0) failures.push('no test ran');

const reports = mkdtempSync(join(tmpdir(), 'tidemark-test-'));
const services = startServices([...new Set(groups.flatMap((group) => group.services))], reports);
try {
	const jobs = groups.map((group) => testGroup(group, services, result));
	await runInParallel(
		[...jobs.slice(0, AHEAD_OF_CHECKS), ...checks, ...jobs.slice(AHEAD_OF_CHECKS)],
		reports,
	);
	if (failures.length > 0) failures.push(...(await services.unresponsive()));
} finally {
	await services.stop();
	rmSync(reports, { recursive: true });
}

for (const excerpt of result.excerpts) console.log(`\n${excerpt}`);
console.log(
	failures.length > 0 ? `\nFailed:\n${failures.map((failure) => `  ${failure}`).join('\n')}\n` : '',
);
console.log(`${result.passed} passed, ${failures.length} failed`);
process.exit(failures.length > 0 ? 1 : 0);
