import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { client } from './api.ts';
import { ADMIN_TOKEN } from './server.ts';

/**
 * Programs in other languages that check a server through a client library of Slack's protocol. They are built here, from the
 * registries of their language, and told where the server is by their environment.
 */

export const SDKS = join(import.meta.dir, '..', 'sdks');

/** Fetching and compiling on a machine that has nothing of it yet. */
export const BUILD_MS = 300_000;
/** A single check gives up after 30 s. */
export const RUN_MS = 100_000;

export interface Program {
	readonly command: readonly string[];
	remove(): Promise<void>;
}

/** A directory for what is built, taken away with the program. */
export const buildDirectory = (): Promise<string> => mkdtemp(join(tmpdir(), 'tidemark-sdk-'));
export const removeDirectory = (directory: string) => rm(directory, { recursive: true, force: true });

/** Runs a step of a build; what is missing on the machine is part of the error. */
export async function build(command: readonly string[], directory: string, needs: string): Promise<void> {
	if (!Bun.which(command[0] ?? ''))
		throw new Error(`${command[0]} is not installed on this machine: the test needs ${needs}`);
	const { code, output } = await finished(command, directory, {}, BUILD_MS);
	if (code !== 0) throw new Error(`${command.join(' ')} failed with ${code}; it needs ${needs}\n${output}`);
}

/** Runs the program in a workspace of its own; the names of its checks. Throws what it printed when one failed. */
export async function checksOf(program: Program, kind: 'web' | 'rtm', url: string): Promise<string[]> {
	const env = { TIDEMARK_URL: url, ...(await prepared(url)) };
	const { code, output } = await finished([...program.command, kind], process.cwd(), env, RUN_MS);
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
