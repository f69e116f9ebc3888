// What `npm test` runs: the static checks, then every test file, one Bun process per group, so that a crash in one
// group hides no other. Tests that need PostgreSQL, Redis or Kafka are groups of their own, for which scripts/services
// starts real ones (or takes those that TIDEMARK_TEST_… names). Nothing is skipped in silence: a skipped or todo test, a group that dies without a report
// and a filter that matches nothing are failures. Groups with and without services run side by side, each telling what it
// has to say when it is over: one half waits for disks and processes much of the time. The last line is always
// `N passed, M failed`.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

const HELP = `npm test                        the static checks and all tests
npm test -- test/contract …     only the test files whose path contains one of the words; no static checks
npm test -- --static            only the static checks (npm run check)`;

const TEST_TIMEOUT_MS = 120_000;
/** Of what a service that did not start had to say, with the summary: enough for its cause. */
const SERVICE_LINES_TOLD = 12;

/** By the word in a test file's name, as scripts/services calls them. What runs on Redis runs on both of its layouts. */
const SERVICES: Record<string, string[]> = {
	postgres: ['postgres'],
	redis: ['redis', 'redis-cluster'],
	kafka: ['kafka'],
	cluster: ['redis-cluster', 'postgres', 'kafka'],
};

const STATIC_CHECKS: Record<string, string[]> = {
	'lint and format (biome)': ['biome', 'check', '--error-on-warnings', '.'],
	'types (tsc)': ['tsc', '--noEmit'],
	'types of the client, without Bun (tsc)': [
		'tsc',
		'-p',
		'client',
		'--noEmit',
		'--emitDeclarationOnly',
		'false',
	],
	'types of the web interface (tsc)': ['tsc', '-p', 'web', '--noEmit'],
	'types of the service worker (tsc)': ['tsc', '-p', 'web/sw', '--noEmit'],
	'dependency direction (dependency-cruiser)': ['depcruise', 'src', 'client/src', 'web/src', 'web/sw'],
};

const root = join(import.meta.dir, '..');
const SERVICES_SCRIPT = join(root, 'scripts', 'services');
let passed = 0;
const failures: string[] = [];

/** Where a command's output goes: to be seen as it comes, or gathered in a file. */
type Output = 'inherit' | Bun.BunFile;

/** Runs a command; the exit code, or the signal that ended it. */
async function run(
	command: string[],
	env: Record<string, string> = {},
	output: Output = 'inherit',
): Promise<number | string> {
	// Through a shell where it is gathered: several commands of a group add to one file, in order.
	const gathered =
		output === 'inherit' ? command : ['sh', '-c', 'exec "$@" >> "$0" 2>&1', output.name ?? '', ...command];
	const child = Bun.spawn(gathered, {
		cwd: root,
		env: { ...process.env, ...env },
		stdio: ['ignore', 'inherit', 'inherit'],
	});
	const code = await child.exited;
	return child.signalCode ?? code;
}

async function runStaticChecks(): Promise<void> {
	for (const [name, [tool = '', ...args]] of Object.entries(STATIC_CHECKS)) {
		console.log(`\n== ${name}`);
		const code = await run([join(root, 'node_modules', '.bin', tool), ...args]);
		if (code === 0) passed++;
		else failures.push(`${name}: exit ${code}`);
	}
}

/** What a test file needs, by its name: store-postgres.test.ts needs PostgreSQL. */
const servicesOf = (file: string): string[] =>
	Object.keys(SERVICES)
		.filter((word) => basename(file).split(/[-.]/).includes(word))
		.flatMap((word) => SERVICES[word] ?? []);

/** Test files by group: test/<first folder>, test itself, src; those that need services apart. */
function findGroups(filters: string[]): Map<string, string[]> {
	const files = [...new Bun.Glob('{src,test}/**/*.test.ts').scanSync({ cwd: root })].sort();
	for (const filter of filters) {
		if (!files.some((file) => file.includes(filter))) failures.push(`${filter}: matches no test file`);
	}
	const groups = new Map<string, string[]>();
	for (const file of files) {
		if (filters.length > 0 && !filters.some((filter) => file.includes(filter))) continue;
		const folder = /^test\/[^/]+(?=\/)/.exec(file)?.[0] ?? file.split('/', 1).join();
		const group = [folder, ...servicesOf(file)].join(' + ');
		groups.set(group, [...(groups.get(group) ?? []), file]);
	}
	return groups;
}

async function runGroup(group: string, files: string[], reportFile: string): Promise<void> {
	const began = performance.now();
	const title = `${group} (${files.length} ${files.length === 1 ? 'file' : 'files'})`;
	console.log(`-- ${title} begins`);
	const output = Bun.file(`${reportFile}.txt`);
	await Bun.write(output, '');
	await runWithServices(group, files, reportFile, output);
	console.log(`\n== ${title}, ${Math.round((performance.now() - began) / 1000)} s\n${await output.text()}`);
}

async function runWithServices(
	group: string,
	files: string[],
	reportFile: string,
	output: Bun.BunFile,
): Promise<void> {
	const services = group.split(' + ').slice(1);
	if (services.length === 0) return runFiles(group, files, reportFile, {}, output);
	// A directory of its own: whoever has services up already keeps them.
	const directory = mkdtempSync(join(tmpdir(), 'tidemark-services-test-'));
	const env = { TIDEMARK_SERVICES_DIR: directory, TIDEMARK_SERVICES_OWNER: String(process.pid) };
	try {
		const code = await run([SERVICES_SCRIPT, 'up', ...services], env, output);
		if (code !== 0) {
			const told = (await output.text()).trimEnd().split('\n').slice(-SERVICE_LINES_TOLD).join('\n    ');
			failures.push(`${group}: ${services.join(' and ')} could not be started (exit ${code})\n    ${told}`);
		} else {
			const told = parseEnv(await Bun.file(join(directory, 'env')).text());
			await runFiles(group, files, reportFile, told, output);
		}
	} finally {
		await run([SERVICES_SCRIPT, 'down'], env, output);
	}
}

/** NAME=value lines. */
const parseEnv = (text: string): Record<string, string> =>
	Object.fromEntries([...text.matchAll(/^(\w+)=(.*)$/gm)].map(([, name, value]) => [name, value]));

async function runFiles(
	group: string,
	files: string[],
	reportFile: string,
	env: Record<string, string>,
	output: Output,
): Promise<void> {
	const code = await run(
		[
			process.execPath,
			'test',
			`--timeout=${TEST_TIMEOUT_MS}`,
			'--reporter=junit',
			`--reporter-outfile=${reportFile}`,
			...files.map((file) => `./${file}`),
		],
		// With CI set, Bun refuses test.only, which would leave out the other tests unseen.
		{ CI: 'true', ...env },
		output,
	);
	const report = Bun.file(reportFile);
	if (!(await report.exists())) {
		failures.push(`${group}: ended without a report (exit ${code})`);
		return;
	}
	const failuresBefore = failures.length;
	const reported = countReport(await report.text());
	for (const file of files) {
		if (!reported.has(file)) failures.push(`${file}: reported no test (did it load?)`);
	}
	// An error outside of any test, in a file that has others, shows in the exit code only.
	if (code !== 0 && failures.length === failuresBefore)
		failures.push(`${group}: exit ${code} outside of a test`);
}

/** Counts the tests of a JUnit report; returns the files that they came from. */
function countReport(junit: string): Set<string> {
	const files = new Set<string>();
	for (const [, tag = '', body = ''] of junit.matchAll(/<testcase\b([^>]*?)(?:\/>|>(.*?)<\/testcase>)/gs)) {
		const attribute = (name: string) => unescapeXml(new RegExp(`\\b${name}="([^"]*)"`).exec(tag)?.[1] ?? '');
		files.add(attribute('file'));
		const name = [attribute('file'), attribute('classname'), attribute('name')].filter(Boolean).join(' > ');
		if (body.includes('<skipped')) failures.push(`${name}: skipped or todo`);
		else if (/<(failure|error)\b/.test(body)) failures.push(name);
		else passed++;
	}
	return files;
}

function unescapeXml(text: string): string {
	const entities: Record<string, string> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };
	return text.replace(/&(\w+);/g, (entity, name: string) => entities[name] ?? entity);
}

const args = process.argv.slice(2);
if (args.includes('--help')) {
	console.log(HELP);
	process.exit(0);
}
const filters = args.filter((arg) => arg !== '--static').map((arg) => arg.replace(/^\.\//, ''));

if (filters.length === 0) await runStaticChecks();
if (!args.includes('--static')) {
	const reports = mkdtempSync(join(tmpdir(), 'tidemark-test-'));
	const groups = [...findGroups(filters)];
	let index = 0;
	/** The next group of this kind; whoever has done all that need services helps with the others. */
	const take = (ofServices: boolean): [string, string[]] | undefined => {
		const place = groups.findIndex(([group]) => group.includes(' + ') === ofServices);
		if (place >= 0) return groups.splice(place, 1)[0];
		return ofServices ? take(false) : undefined;
	};
	const lane = async (ofServices: boolean) => {
		for (let next = take(ofServices); next; next = take(ofServices)) {
			const [group, files] = next;
			await runGroup(group, files, join(reports, `${index++}.xml`));
		}
	};
	await Promise.all([lane(true), lane(false)]);
	rmSync(reports, { recursive: true });
	if (index === 0) failures.push('no test ran');
}

console.log(
	failures.length > 0 ? `\nFailed:\n${failures.map((failure) => `  ${failure}`).join('\n')}\n` : '',
);
console.log(`${passed} passed, ${failures.length} failed`);
process.exit(failures.length > 0 ? 1 : 0);
