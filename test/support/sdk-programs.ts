import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { client } from './api.ts';
import { manifestOf } from './apps.ts';
import { ADMIN_TOKEN, startServer, type TestServer } from './server.ts';

/**
 * Programs in other languages that test a server through a client library for Slack. They are built here, from the
 * registries of their language, and get the server's address in their environment.
 */

export const SDKS = join(import.meta.dir, '..', 'sdks');

/** Enough to download and compile everything on a machine that has no packages yet. */
const BUILD_MS = 300_000;
/** A single check gives up after 30 s. */
const RUN_MS = 100_000;

export interface Sdk {
	readonly name: string;
	/** Builds the program in this directory, and returns the command that runs it. */
	readonly build: (directory: string) => Promise<readonly string[]>;
	/** The number of checks that the program makes. */
	readonly checks: Readonly<Partial<Record<Kind, number>>>;
}

type Kind = 'web' | 'rtm' | 'socket';
const KINDS: Readonly<Record<Kind, string>> = { web: 'the Web API', rtm: 'RTM', socket: 'Socket Mode' };

/** Tests a server with one such program. Only the address differs from that of Slack. */
export function describeSdk({ name, build, checks }: Sdk): void {
	let server: TestServer;
	let directory: string;
	let command: readonly string[];
	beforeAll(async () => {
		directory = await mkdtemp(join(tmpdir(), 'tidemark-sdk-'));
		command = await build(directory);
		server = await startServer();
	}, 3 * BUILD_MS);
	afterAll(async () => {
		if (directory) await rm(directory, { recursive: true, force: true });
		await server?.stop();
	});
	for (const [kind, count] of Object.entries(checks) as [Kind, number][])
		test(
			`${name}: ${KINDS[kind]}`,
			async () => {
				expect(await checksOf(command, kind, server.url, 'socket' in checks)).toHaveLength(count);
			},
			2 * RUN_MS,
		);
}

/** Runs a step of a build; the error names what is missing on the machine. */
export async function build(command: readonly string[], directory: string, needs: string): Promise<void> {
	if (!Bun.which(command[0] ?? ''))
		throw new Error(`${command[0]} is not installed on this machine: the test needs ${needs}`);
	const { code, output } = await finished(command, directory, {}, BUILD_MS);
	if (code !== 0) throw new Error(`${command.join(' ')} failed with ${code}; it needs ${needs}\n${output}`);
}

/** Runs the program in its own workspace, and returns the names of its checks. Throws its output if one failed. */
async function checksOf(
	program: readonly string[],
	kind: Kind,
	url: string,
	isApp: boolean,
): Promise<string[]> {
	const people = await prepared(url);
	const env = { TIDEMARK_URL: url, ...people, ...(isApp ? await preparedApp(url, people) : {}) };
	const { code, output } = await finished([...program, kind], process.cwd(), env, RUN_MS);
	if (code !== 0) throw new Error(`ended with ${code}:\n${output}`);
	return [...output.matchAll(/^ok (.+)$/gm)].map(([, name = '']) => name);
}

async function finished(
	command: readonly string[],
	cwd: string,
	env: Readonly<Record<string, string>>,
	withinMs: number,
): Promise<{ readonly code: number; readonly output: string }> {
	const child = Bun.spawn([...command], {
		cwd,
		env: { ...process.env, ...env },
		stdio: ['ignore', 'pipe', 'pipe'],
		timeout: withinMs,
	});
	const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
	return { code, output: `${out}${err}` };
}

/** Ada, Grace and a bot in one channel, as the programs expect them. */
async function prepared(url: string): Promise<Record<string, string>> {
	const admin = client(url, ADMIN_TOKEN);
	const { team } = await admin('admin.teams.create', { name: 'Tests' });
	const person = async (name: string, more: Record<string, unknown>) => {
		const { user } = await admin('admin.users.create', { team_id: team.id, name, ...more });
		const { token } = await admin('admin.tokens.create', { user_id: user.id });
		return { id: user.id as string, token: token as string };
	};
	const email = `grace-${team.id.toLowerCase()}@example.com`;
	const ada = await person('ada', { real_name: 'Ada' });
	const grace = await person('grace', { real_name: 'Grace', email });
	const bot = await person('bot', { is_bot: true });
	const call = client(url, ada.token);
	const { channel } = await call('conversations.create', { name: 'quay' });
	await call('conversations.invite', { channel: channel.id, users: `${grace.id},${bot.id}` });
	return {
		ADA: ada.id,
		ADA_TOKEN: ada.token,
		GRACE: grace.id,
		GRACE_TOKEN: grace.token,
		GRACE_EMAIL: email,
		BOT: bot.id,
		BOT_TOKEN: bot.token,
		CHANNEL: channel.id,
		CHANNEL_NAME: 'quay',
	};
}

/** An app in the channel, for programs that are apps. */
async function preparedApp(
	url: string,
	env: Readonly<Record<string, string>>,
): Promise<Record<string, string>> {
	const admin = client(url, ADMIN_TOKEN);
	const call = client(url, env.ADA_TOKEN ?? '');
	const { team_id } = await call('auth.test');
	const manifest = manifestOf({ events: ['message.channels'], commands: [{ command: '/tide' }] });
	const { app, credentials } = await admin('admin.apps.create', { team_id, manifest });
	await call('conversations.invite', { channel: env.CHANNEL, users: app.bot.user_id });
	const { webhook } = await admin('admin.apps.webhooks.create', { app_id: app.id, channel: env.CHANNEL });
	return {
		APP_TOKEN: credentials.app_token,
		APP_BOT_TOKEN: credentials.bot_token,
		WEBHOOK_URL: webhook.url,
	};
}
