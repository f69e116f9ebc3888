// What `npm test` runs: the static checks and every test file, one Bun process per group, so that a crash in one group
// hides no other. Tests that need PostgreSQL, Redis or Kafka are groups of their own; scripts/services starts real ones for
// all of them (or takes those that TIDEMARK_TEST_… names). A few run side by side: much of the time each waits. Nothing is
// skipped in silence: a skipped or todo test, a group that dies without a report and a filter that matches nothing are
// failures. The last line is always `N passed, M failed`.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findGroups, testFiles } from './testing/groups.ts';
import { runInLanes } from './testing/lanes.ts';
import type { Outcome } from './testing/outcome.ts';
import { startServices } from './testing/services.ts';
import { staticChecks } from './testing/static-checks.ts';
import { testGroup } from './testing/test-group.ts';

const HELP = `npm test                        the static checks and all tests
npm test -- test/contract …     only the test files whose path contains one of the words; no static checks
npm test -- --static            only the static checks (npm run check)`;

/** Before the static checks: groups that take longer than anything else. */
const AHEAD_OF_CHECKS = 2;

const args = process.argv.slice(2);
if (args.includes('--help')) {
	console.log(HELP);
	process.exit(0);
}
const filters = args.filter((arg) => arg !== '--static').map((arg) => arg.replace(/^\.\//, ''));
const outcome: Outcome = { passed: 0, failures: [], excerpts: [] };
const { failures } = outcome;

const files = args.includes('--static') ? [] : testFiles();
for (const filter of filters) {
	if (!files.some((file) => file.includes(filter))) failures.push(`${filter}: matches no test file`);
}
const chosen = files.filter(
	(file) => filters.length === 0 || filters.some((filter) => file.includes(filter)),
);
const groups = findGroups(chosen);
const checks = filters.length === 0 ? staticChecks(outcome) : [];
if (chosen.length + checks.length === 0) failures.push('no test ran');

const reports = mkdtempSync(join(tmpdir(), 'tidemark-test-'));
const services = startServices([...new Set(groups.flatMap((group) => group.services))], reports);
try {
	const jobs = groups.map((group) => testGroup(group, services, outcome));
	await runInLanes([...jobs.slice(0, AHEAD_OF_CHECKS), ...checks, ...jobs.slice(AHEAD_OF_CHECKS)], reports);
	if (failures.length > 0) failures.push(...(await services.unwell()));
} finally {
	await services.stop();
	rmSync(reports, { recursive: true });
}

for (const excerpt of outcome.excerpts) console.log(`\n${excerpt}`);
console.log(
	failures.length > 0 ? `\nFailed:\n${failures.map((failure) => `  ${failure}`).join('\n')}\n` : '',
);
console.log(`${outcome.passed} passed, ${failures.length} failed`);
process.exit(failures.length > 0 ? 1 : 0);
