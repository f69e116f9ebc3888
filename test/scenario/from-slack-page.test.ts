import { expect, test } from 'bun:test';
import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { withDirectory } from '../support/process.ts';

/**
 * Runs the steps of docs/from-slack.md to a Bolt app unchanged, except for the port and the paths of installed packages.
 */

const ROOT = join(import.meta.dir, '..', '..');

async function section(): Promise<string> {
	const page = await Bun.file(join(ROOT, 'docs', 'from-slack.md')).text();
	const found = /^## A Bolt app\n(.*?)^## /ms.exec(page)?.[1];
	if (found === undefined) throw new Error('the page has no such section');
	return found;
}

const blocks = (text: string, language: string): string[] =>
	[...text.matchAll(new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 'gs'))].map(([, block]) => String(block));

async function freePort(): Promise<number> {
	const probe = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() });
	const { port } = probe;
	await probe.stop(true);
	return port as number;
}

/** Waits for the state for which the page waits some seconds: a busy machine takes longer. */
const WAITS: readonly [RegExp, string][] = [
	[/(> server\.log) & sleep \d+/, '$1 & until grep -q http server.log; do sleep 0.1; done'],
	[/(node bot\.mjs > bot\.log) & sleep \d+/, '$1 2>&1 & until grep -q running bot.log; do sleep 0.1; done'],
];

test('the page’s steps lead from nothing to a Bolt app that answers a command', async () => {
	const text = await section();
	await withDirectory(async (directory) => {
		await mkdir(join(directory, 'node_modules'));
		for (const name of ['@slack'])
			await symlink(join(ROOT, 'node_modules', name), join(directory, 'node_modules', name));
		const port = await freePort();
		let script = blocks(text, 'sh')
			.join('\n')
			.replaceAll(/(?:npx |bin\/)tidemark/g, join(ROOT, 'bin', 'tidemark'))
			.replaceAll('localhost:8080', `localhost:${port}`)
			.replace(/^npm install .*$/m, '');
		for (const [waits, until] of WAITS) {
			expect(script).toMatch(waits);
			script = script.replace(waits, until);
		}
		const child = Bun.spawn(['bash', '-c', `set -e; trap 'kill $(jobs -p)' EXIT\n${script}`], {
			cwd: directory,
			env: { ...process.env, TIDEMARK_PORT: String(port), TIDEMARK_HOST: '127.0.0.1' },
			stdio: ['ignore', 'pipe', 'pipe'],
			timeout: 110_000,
		});
		const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
		expect({ code, err }).toMatchObject({ code: 0 });
		expect(out.trim().split('\n').at(-1)).toBe(blocks(text, 'json').join('').trim());
	});
}, 120_000);
