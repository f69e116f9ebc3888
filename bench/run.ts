import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { SCENARIOS } from './scenarios/index.ts';
import { describeMachine, measuredCommit, treeOf } from './support/machine.ts';
import { TEMPORARY } from './support/paths.ts';
import { saveResult, writePage } from './support/results.ts';
import { type Bench, MissingRequirement, type Scale, type Scenario } from './support/scenario.ts';
import { plainTable } from './support/table.ts';

/** `npm run bench`: runs scenarios one after the other, prints their figures and stores them. */

const HELP = `npm run bench                   runs every scenario
npm run bench -- NAME …         runs only these scenarios
npm run bench -- --list         lists the scenarios
npm run bench -- --quick        small sizes, as a trial; stores no results
npm run bench -- --full         also the largest sizes; takes long
npm run bench -- --page         only writes docs/benchmarks.md again, from the stored results

Most figures are measured three times or more. A ratio compares two measurements of the same run.
Results are stored in bench/results/latest.json and shown in docs/benchmarks.md.`;

const RUNS = 3;
const FLAGS = ['--help', '-h', '--list', '--quick', '--full', '--page'];

async function main(argv: readonly string[]): Promise<number> {
	const names = argv.filter((word) => !word.startsWith('-'));
	const unknown = [
		...argv.filter((word) => word.startsWith('-') && !FLAGS.includes(word)),
		...names.filter((name) => !SCENARIOS.some((one) => one.name === name)),
	];
	if (unknown.length > 0) {
		console.error(`bench: no such scenario or flag: ${unknown.join(', ')}\n\n${HELP}`);
		return 2;
	}
	if (argv.includes('--help') || argv.includes('-h')) {
		console.log(HELP);
		return 0;
	}
	if (argv.includes('--list')) {
		for (const { name, about } of SCENARIOS) console.log(`${name.padEnd(22)} ${about}`);
		return 0;
	}
	if (argv.includes('--page')) {
		writePage(SCENARIOS);
		return 0;
	}
	const scale: Scale = argv.includes('--quick') ? 'quick' : argv.includes('--full') ? 'full' : 'standard';
	const chosen = SCENARIOS.filter(({ name }) => names.length === 0 || names.includes(name));
	let failed = 0;
	for (const scenario of chosen) if (!(await runOne(scenario, scale))) failed += 1;
	console.log(`\n${chosen.length - failed} of ${chosen.length} scenarios ran`);
	return failed === 0 ? 0 : 1;
}

async function runOne(scenario: Scenario, scale: Scale): Promise<boolean> {
	console.log(`\n== ${scenario.name}: ${scenario.about}`);
	mkdirSync(TEMPORARY, { recursive: true });
	const machine = describeMachine(TEMPORARY);
	const tree = treeOf();
	const undo: (() => unknown)[] = [];
	const started = performance.now();
	const bench: Bench = {
		scale,
		runs: RUNS,
		pick: (quick, standard, full) => ({ quick, standard, full })[scale],
		progress: (text) =>
			console.log(`   ${((performance.now() - started) / 1000).toFixed(1).padStart(6)} s  ${text}`),
		directory: (name) => {
			const path = join(TEMPORARY, `${scenario.name}-${name}`);
			rmSync(path, { recursive: true, force: true });
			undo.push(() => rmSync(path, { recursive: true, force: true }));
			return path;
		},
		atEnd: (work) => void undo.push(work),
	};
	try {
		const outcome = await scenario.run(bench);
		console.log(`\n${plainTable(outcome.figures)}\n`);
		for (const [name, value] of Object.entries({ ...outcome.configuration, ...machine }))
			console.log(`  ${name}: ${value}`);
		for (const note of outcome.notes) console.log(`  note: ${note}`);
		if (scale !== 'quick') {
			saveResult(scenario, { ...outcome, machine, commit: measuredCommit(tree), scale });
			writePage(SCENARIOS);
		}
		return true;
	} catch (error) {
		if (!(error instanceof MissingRequirement)) throw error;
		console.error(`   not run: ${error.message}`);
		return false;
	} finally {
		for (const work of undo.reverse()) await work();
	}
}

process.exit(await main(process.argv.slice(2)));
