import { afterAll, beforeAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import {
	BUILD_MS,
	build,
	buildDirectory,
	checksOf,
	type Program,
	RUN_MS,
	removeDirectory,
	SDKS,
} from '../support/sdk-programs.ts';
import { startServer, type TestServer } from '../support/server.ts';

/** Slack's Java client against the server: only its address is changed. test/sdks/java has the checks. */

const NEEDS = 'a JDK of Java 17 or newer, Maven, and a repository that has com.slack.api:slack-api-client';

let server: TestServer;
let program: Program;

beforeAll(async () => {
	const directory = await buildDirectory();
	const [jars, classes] = [join(directory, 'jars'), join(directory, 'classes')];
	const source = join(SDKS, 'java');
	await build(
		['mvn', '-B', '-q', 'dependency:copy-dependencies', `-DoutputDirectory=${jars}`],
		source,
		NEEDS,
	);
	await build(['javac', '-cp', `${jars}/*`, '-d', classes, 'Checks.java'], source, NEEDS);
	const command = ['java', '-XX:TieredStopAtLevel=1', '-cp', `${jars}/*:${classes}`, 'Checks'];
	program = { command, remove: () => removeDirectory(directory) };
	server = await startServer();
}, 3 * BUILD_MS);
afterAll(async () => {
	await program?.remove();
	await server?.stop();
});

test(
	'Slack’s Java client: the Web API',
	async () => {
		expect(await checksOf(program, 'web', server.url)).toHaveLength(20);
	},
	2 * RUN_MS,
);

test(
	'Slack’s Java client: RTM',
	async () => {
		expect(await checksOf(program, 'rtm', server.url)).toHaveLength(4);
	},
	2 * RUN_MS,
);
