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

/** slack-go against the server: only its address is changed. test/sdks/go has the checks. */

const NEEDS = 'Go 1.22 or newer, and a module proxy that has github.com/slack-go/slack';

let server: TestServer;
let program: Program;

beforeAll(async () => {
	const directory = await buildDirectory();
	const binary = join(directory, 'checks');
	await build(['go', 'build', '-o', binary, '.'], join(SDKS, 'go'), NEEDS);
	program = { command: [binary], remove: () => removeDirectory(directory) };
	server = await startServer();
}, 2 * BUILD_MS);
afterAll(async () => {
	await program?.remove();
	await server?.stop();
});

test(
	'slack-go: the Web API',
	async () => {
		expect(await checksOf(program, 'web', server.url)).toHaveLength(23);
	},
	2 * RUN_MS,
);

test(
	'slack-go: RTM',
	async () => {
		expect(await checksOf(program, 'rtm', server.url)).toHaveLength(7);
	},
	2 * RUN_MS,
);
