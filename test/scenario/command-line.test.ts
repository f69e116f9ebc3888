import { describe, expect, test } from 'bun:test';
import packageFile from '../../package.json' with { type: 'json' };
import { client, rawClient } from '../support/api.ts';
import { manifestOf } from '../support/apps.ts';
import { type Ended, serveProcess, tidemark, withDirectory } from '../support/process.ts';

/** The commands besides serve: help, wrong flags, and commands that call a running server. */

const run = (args: readonly string[], environment: Record<string, string> = {}): Promise<Ended> =>
	tidemark(args, environment).ended;

describe('help', () => {
	for (const command of ['serve', 'token', 'seed', 'bench']) {
		test(`tidemark ${command} --help prints its usage and settings`, async () => {
			const { code, out, err } = await run([command, '--help']);
			expect([code, err]).toEqual([0, '']);
			expect(out).toStartWith(`Usage: tidemark ${command}`);
			for (const part of ['--port', 'TIDEMARK_PORT', '--data-dir', 'TIDEMARK_ADMIN_TOKEN'])
				expect(out).toContain(part);
			expect(out.includes('--kafka-partitions')).toBe(command === 'serve');
			expect((await run(['help', command])).out).toBe(out);
		});
	}

	test('the help of a command describes a setting as it applies to that command', async () => {
		const [serve, gateway, seed] = await Promise.all(
			['serve', 'gateway', 'seed'].map(async (command) => (await run([command, '--help'])).out),
		);
		expect(serve).toContain('port to listen on');
		expect(serve).toMatch(/--admin-token .*saves it in the data directory/);
		expect(gateway).toMatch(/--admin-token .*the same on all gateways/);
		expect(gateway).toMatch(/--vapid-private-key .*Web Push is disabled/);
		expect(gateway).not.toContain('data directory');
		expect(seed).not.toContain('listen');
		for (const help of [serve, gateway, seed]) expect(help).toContain('or TIDEMARK_ADMIN_TOKEN_FILE');
	});

	test('tidemark --help lists the commands, and --version prints the version', async () => {
		const { code, out } = await run(['--help']);
		expect(code).toBe(0);
		for (const command of ['serve', 'token', 'seed', 'doctor', 'bench'])
			expect(out).toContain(`  ${command} `);
		expect(await run(['--version'])).toMatchObject({ code: 0, out: `${packageFile.version}\n` });
	});

	test('without a command the help is printed, and the exit code is that of a mistake', async () => {
		const { code, out } = await run([]);
		expect(code).toBe(2);
		expect(out).toContain('Usage: tidemark <command>');
	});
});

describe('mistakes', () => {
	const mistakes: [string, string[], RegExp[]][] = [
		['an unknown command', ['serv'], [/there is no command "serv"/, /tidemark --help/]],
		['an unknown command of a group', ['team', 'lst'], [/no command "team lst"/, /team list {4,}List/]],
		[
			'a manifest that does not exist',
			['app', 'create', '--manifest', 'no.yaml'],
			[/--manifest no\.yaml .*ENOENT/],
		],
		['an unknown flag', ['serve', '--prot', '80'], [/--prot/, /tidemark serve --help/]],
		['a flag without its value', ['serve', '--port'], [/--port/, /tidemark serve --help/]],
		['a word too many', ['serve', 'now'], [/now/, /tidemark serve --help/]],
		['an invalid port', ['serve', '--port', 'http'], [/--port "http" is not a whole number from 0 to 65535/]],
		['a port that is too large', ['serve', '--port', '70000'], [/--port "70000"/]],
		[
			'a cluster without its services',
			['gateway'],
			[/TIDEMARK_ADMIN_TOKEN is missing/, /TIDEMARK_KAFKA_BROKERS is missing/, /tidemark gateway --help/],
		],
		[
			'an invalid load',
			['bench', '--rate', '0', '--url', 'localhost'],
			[/--rate "0" is not a whole number from 1/, /tidemark bench --help/],
		],
		[
			'a server without its protocol',
			['seed', '--url', 'localhost:8080'],
			[/--url "localhost:8080" is not an/],
		],
		[
			'a repair without a target',
			['doctor', '--repair'],
			[/--repair needs --user or --channel/, /doctor --help/],
		],
		['a token without a user', ['token'], [/NAME is missing/, /Usage: tidemark token NAME/]],
		['a workspace without a name', ['team', 'add'], [/: NAME is missing/, /Usage: tidemark team add NAME/]],
	];
	for (const [what, args, expected] of mistakes) {
		test(`${what} is reported on standard error, with where to look, and exits with 2`, async () => {
			const { code, out, err } = await run(args);
			expect([code, out]).toEqual([2, '']);
			for (const part of expected) expect(err).toMatch(part);
		});
	}

	test('several wrong settings are reported together, each with where it was set, without secrets', async () => {
		const { code, err } = await run(['serve', '--port', 'http', '--admin-token', 'hunter2'], {
			TIDEMARK_LOG_LEVEL: 'loud',
			TIDEMARK_IDLE_MINUTES: '1.5',
		});
		expect(code).toBe(2);
		const problems = [
			/^tidemark: --port "http" is not/m,
			/^--admin-token is shorter than 16 bytes/m,
			/^TIDEMARK_LOG_LEVEL "loud" is not one of debug, info, warn, error/m,
			/^TIDEMARK_IDLE_MINUTES "1.5" is not a whole number/m,
		];
		for (const problem of problems) expect(err).toMatch(problem);
		expect(err).not.toContain('hunter2');
	});

	test('a port that Kubernetes set is reported with its cause', async () => {
		const { code, err } = await run(['gateway'], { TIDEMARK_PORT: 'tcp://10.96.0.17:80' });
		expect(code).toBe(2);
		expect(err).toMatch(/TIDEMARK_PORT "tcp:.*Kubernetes.*enableServiceLinks: false/);
	});

	test('a mistyped variable causes a warning, and a flag wins over its variable', async () => {
		await withDirectory(async (directory) => {
			const args = ['serve', '--port', '0', '--log-level', 'warn', '--data-dir', directory];
			const server = tidemark(args, {
				TIDEMARK_PROT: '80',
				TIDEMARK_SERVICES_DIR: directory,
				TIDEMARK_SERVICES_LONG_RUN: '1',
				TIDEMARK_PORT: 'http',
				TIDEMARK_LOG_LEVEL: 'error',
			});
			await server.printed(/http:\/\/localhost:\d+/);
			const { err } = await server.end('SIGTERM');
			expect(err).toContain('TIDEMARK_PROT is not a setting of Tidemark');
			expect(err).not.toContain('TIDEMARK_PORT ');
			expect(err).not.toContain('TIDEMARK_SERVICES_');
		});
	});
});

test('APNs settings without an APNs key are a mistake, and serve names settings that it does not use', async () => {
	await withDirectory(async (directory) => {
		const args = ['serve', '--port', '0', '--data-dir', directory];
		const { code, err } = await run(args, { TIDEMARK_APNS_KEY_ID: 'KEY0000001' });
		expect(code).toBe(2);
		expect(err).toMatch(
			/TIDEMARK_APNS_KEY_FILE is missing: TIDEMARK_APNS_KEY_ID has no effect without the key/,
		);
		const server = tidemark(args, { TIDEMARK_REDIS_URL: 'redis://127.0.0.1:1' });
		await server.printed(/http:\/\/localhost:\d+/);
		expect((await server.end('SIGTERM')).err).toMatch(/`tidemark gateway` and `tidemark worker`/);
	});
});

describe('commands that talk to a running server', () => {
	test('token creates a working token, seed creates a workspace, and both find the server’s administrator token', async () => {
		await withDirectory(async (directory) => {
			const server = await serveProcess(directory);
			const where = ['--url', server.url, '--data-dir', directory];
			const seeded = await run(['seed', ...where]);
			expect([seeded.code, seeded.err]).toEqual([0, '']);
			const [, user = '', seededToken = ''] = /ada +(U\w+) +(xoxp-\S+)/.exec(seeded.out) ?? [];
			expect((await client(server.url, seededToken)('auth.test')).user_id).toBe(user);

			const made = await run(['token', '--user', user, ...where]);
			expect([made.code, made.err]).toEqual([0, '']);
			const token = made.out.trim();
			expect(token).not.toBe(seededToken);
			expect((await client(server.url, token)('auth.test')).user_id).toBe(user);

			const unknown = await run(['token', '--user', 'U0000000000', ...where]);
			expect([unknown.code, unknown.out]).toEqual([1, '']);
			expect(unknown.err).toMatch(/user_not_found: user_id: no such user/);
			const stranger = await run(['token', '--user', user, '--url', server.url], {
				TIDEMARK_ADMIN_TOKEN: 'that-of-another-server',
			});
			expect(stranger.code).toBe(1);
			expect(stranger.err).toMatch(
				/does not recognise this administrator’s token. Set TIDEMARK_ADMIN_TOKEN.*another server/,
			);
		});
	});

	test('token list, token revoke and user deactivate revoke access', async () => {
		await withDirectory(async (directory) => {
			const server = await serveProcess(directory);
			const where = ['--url', server.url, '--data-dir', directory];
			const seeded = await run(['seed', ...where]);
			const [, user = '', first = ''] = /ada +(U\w+) +(xoxp-\S+)/.exec(seeded.out) ?? [];
			const brief = await run(['token', user, '--expires-in', '3600', ...where]);
			const listed = await run(['token', 'list', '--user', user, ...where]);
			expect([listed.code, listed.err]).toEqual([0, '']);
			expect(listed.out.trim().split('\n')).toHaveLength(2);
			const [, id = ''] = /^([0-9a-f]{16}) .*active .*expires \d/m.exec(listed.out) ?? [];
			expect(await run(['token', 'revoke', '--id', id, ...where])).toMatchObject({
				code: 0,
				out: 'revoked\n',
			});
			const ask = (token: string) => rawClient(server.url, token)('auth.test');
			expect((await ask(brief.out.trim())).error).toBe('token_revoked');
			expect((await ask(first)).ok).toBe(true);

			const ended = await run(['user', 'deactivate', '--user', user, ...where]);
			expect(ended).toMatchObject({ code: 0, err: '' });
			expect(ended.out).toBe(`${user} (ada) is deactivated and signed out.\n`);
			expect((await ask(first)).error).toBe('token_revoked');
			expect((await run(['token', '--user', user, ...where])).err).toContain('user_disabled');
			expect((await run(['user', 'reactivate', '--user', user, ...where])).code).toBe(0);
			expect((await run(['token', '--user', user, ...where])).code).toBe(0);
			expect((await run(['token', 'revoke', ...where])).err).toMatch(/--id or --user/);
		});
	});

	test('app create and update warn of a request URL that does not work', async () => {
		await withDirectory(async (directory) => {
			const server = await serveProcess(directory);
			const where = ['--url', server.url, '--data-dir', directory];
			await run(['team', 'add', 'Harbour Crew', ...where]);
			const manifest = `${directory}/manifest.json`;
			await Bun.write(
				manifest,
				JSON.stringify(
					manifestOf({
						events: ['message.channels'],
						socketMode: false,
						requestUrl: `${server.url}/nothing`,
					}),
				),
			);
			const warning =
				'The request URL could not be verified: the URL answered with HTTP 404. Events are sent to it anyway; correct it with `tidemark app update`.\n';
			const created = await run(['app', 'create', '--manifest', manifest, ...where]);
			expect([created.code, created.err]).toEqual([0, warning]);
			const [, app = ''] = /^APP_ID=(\w+)$/m.exec(created.out) ?? [];
			expect(created.out.trim().split('\n')).toHaveLength(5);
			const updated = await run(['app', 'update', '--app', app, '--manifest', manifest, ...where]);
			expect([updated.code, updated.err]).toEqual([0, warning]);
			expect(updated.out).toMatch(new RegExp(`^${app}  .+  HTTP\n$`));
		});
	});

	test('a paused app is listed with the command that resumes it', async () => {
		const app = { id: 'A1', name: 'tide', socket_mode: false, connections: 0, commands: [] };
		const delivery = { is_paused: true, given_up: 3, last_error: 'HTTP 500' };
		const server = Bun.serve({
			port: 0,
			fetch: () =>
				Response.json({
					ok: true,
					teams: [{ id: 'T1', name: 'Crew', domain: 'crew' }],
					apps: [{ ...app, delivery }],
					response_metadata: { next_cursor: '' },
				}),
		});
		const url = `http://localhost:${server.port}`;
		const { code, out } = await run(['app', 'list', '--url', url], { TIDEMARK_ADMIN_TOKEN: 'x'.repeat(32) });
		await server.stop(true);
		expect([code, out]).toEqual([
			0,
			`A1  tide  HTTP  PAUSED: HTTP 500. When the app works again: npx tidemark app resume --app A1 --url ${url}\n`,
		]);
	});

	test('from an empty server to a signed-in person, by names, each command naming the next', async () => {
		await withDirectory(async (directory) => {
			const server = await serveProcess(directory);
			const where = ['--url', server.url, '--data-dir', directory];
			// The printed command works as it is, with the address and directory that differ from the defaults.
			await server.printed(new RegExp(`npx tidemark team add NAME ${where.join(' ')}\n`));
			const early = await run(['user', 'list', ...where]);
			expect([early.code, early.out]).toEqual([2, '']);
			expect(early.err).toContain('tidemark team add NAME');
			const team = await run(['team', 'add', 'Harbour Crew', ...where]);
			expect([team.code, team.err]).toEqual([0, '']);
			expect(team.out).toMatch(
				/^T\w+ {2}Harbour Crew \(harbour-crew\) created\.\nAll people that you add or invite join #general; bots do not\.\nNext: npx tidemark invite --team 'Harbour Crew'/,
			);
			const added = await run(['user', 'add', 'mia', '--real-name', 'Mia Berg', ...where]);
			expect(added.out).toMatch(/^U\w+ {2}mia added to Harbour Crew\.\nNext: npx tidemark invite --user mia/);
			expect(added.out).toContain(` --team 'Harbour Crew' ${where.join(' ')}   creates a link`);
			const full = await run(['user', 'add', 'Zoë van Dam', ...where]);
			expect(full.out).toContain('  zoë.van.dam added to Harbour Crew.');
			expect((await run(['invite', 'list', '--team', 'harbour crew', ...where])).out).toBe(
				'Harbour Crew has no invite links.\n',
			);
			expect((await run(['token', 'list', 'mia', ...where])).out).toBe('mia has no tokens.\n');
			expect((await run(['app', 'list', ...where])).out).toBe('Harbour Crew has no apps.\n');
			const [mine, anybody] = await Promise.all([
				run(['invite', '--user', '@mia', '--team', 'harbour-crew', ...where]),
				run(['invite', '--label', 'Tom of the crew', ...where]),
			]);
			const accept = async ({ out }: Ended, args: Record<string, string>) => {
				const [, invite = ''] = /#invite=(\S+)\nNext: send this link/.exec(out) ?? [];
				return rawClient(server.url, 'none')('invites.accept', { invite, ...args });
			};
			const asMia = await accept(mine, { device: 'Laptop' });
			expect(await client(server.url, asMia.token)('auth.test')).toMatchObject({
				user: 'mia',
				team: 'Harbour Crew',
			});
			const asTom = await accept(anybody, { real_name: 'Tom Vane' });
			expect((await client(server.url, asTom.token)('auth.test')).user).toBe('tom.vane');
			expect((await accept(anybody, { real_name: 'Ann' })).error).toBe('invite_used');
			const [listed, tokens, ended, invites] = await Promise.all([
				run(['user', 'list', ...where]),
				run(['token', 'list', 'mia', ...where]),
				run(['user', 'deactivate', 'tom.vane', ...where]),
				run(['invite', 'list', ...where]),
			]);
			expect(invites.out).toMatch(/^[0-9a-f]{16} {2}used .* {2}"Tom of the crew"$/m);
			expect(invites.out).toMatch(/^[0-9a-f]{16} {2}used .* {2}for mia$/m);
			expect(listed.out).toMatch(/^U\w+ {2}(mia {2}Mia Berg|tom\.vane {2}Tom Vane)/m);
			expect(tokens.out).toMatch(/^[0-9a-f]{16} {2}active .* {2}Laptop$/m);
			expect(ended.out).toContain('(tom.vane) is deactivated');
			expect((await run(['user', 'deactivate', 'nobody', ...where])).err).toContain(
				`there is no user "nobody" in Harbour Crew: run \`tidemark user list --team 'Harbour Crew'\``,
			);
			const again = await run(['team', 'add', 'harbour crew', ...where]);
			expect([again.code, again.out]).toEqual([2, '']);
			expect(again.err).toMatch(/a workspace named "Harbour Crew" exists already \(T\w+\).*--same-name/);
			const second = await run(['team', 'add', 'Harbour Crew', '--same-name', ...where]);
			expect(second.out).toMatch(
				/^(T\w+) {2}Harbour Crew .*\n.*#general; bots do not\.\nNext: npx tidemark invite --team \1 /,
			);
			const [id = ''] = second.out.split(' ');
			const empty = await run(['user', 'list', '--team', id, ...where]);
			expect(empty.out).toContain(`Next: npx tidemark invite --team ${id} `);
			const namesake = await run(['user', 'add', 'mia', '--team', id, ...where]);
			expect(namesake.out).toContain(`Next: npx tidemark invite --user mia --team ${id} `);
			expect((await run(['user', 'deactivate', 'nobody', '--team', id, ...where])).err).toContain(
				`tidemark user list --team ${id}\``,
			);
			expect((await run(['invite', ...where])).err).toMatch(/several workspaces: choose one with --team/);
		});
	});

	test('a missing server, a server that is not Tidemark and a wrong administrator’s token have different errors', async () => {
		await withDirectory(async (directory) => {
			const tokenless = await run(['token', '--user', 'U0000000001', '--data-dir', directory]);
			expect(tokenless.code).toBe(2);
			expect(tokenless.err).toMatch(/TIDEMARK_ADMIN_TOKEN, or set --data-dir/);
			const args = ['token', '--user', 'U0000000001', '--url', 'http://127.0.0.1:1'];
			const serverless = await run(args, { TIDEMARK_ADMIN_TOKEN: '0123456789abcdef' });
			expect(serverless.code).toBe(1);
			expect(serverless.err).toMatch(/no server answers at http:\/\/127\.0\.0\.1:1.*--url/);
			const other = Bun.serve({ port: 0, fetch: () => new Response('<html>', { status: 404 }) });
			const elsewhere = await run(['bench', '--url', `http://localhost:${other.port}`], {
				TIDEMARK_ADMIN_TOKEN: '0123456789abcdef',
			});
			const secured = await run(['bench', '--url', `https://localhost:${other.port}`], {
				TIDEMARK_ADMIN_TOKEN: '0123456789abcdef',
			});
			await other.stop(true);
			expect(secured.code).toBe(1);
			expect(secured.err).toMatch(/does not serve https.*--url/);
			expect(elsewhere.code).toBe(1);
			expect(elsewhere.err).toMatch(/is not Tidemark \(HTTP 404\)/);
		});
	});
});
