import { expect, test } from 'bun:test';
import { dirname, join, normalize } from 'node:path';

/** Both packages are complete: licence, and every file that their documents link to. */

const ROOT = join(import.meta.dir, '..', '..');
const LINK = /\]\(([^)#\s]+)(?:#[^)]*)?\)/g;

async function packed(folder: string): Promise<readonly string[]> {
	const command = ['npm', 'pack', '--dry-run', '--json', '--ignore-scripts', folder];
	const child = Bun.spawn(command, { cwd: ROOT, stdio: ['ignore', 'pipe', 'ignore'] });
	const [{ files }] = JSON.parse(await child.stdout.text());
	return files.map(({ path }: { path: string }) => path);
}

test.each(['.', './client'])(
	'the package of %s contains its licence and every file that its documents link to',
	async (folder) => {
		const files = new Set(await packed(folder));
		expect(files.has('LICENSE')).toBe(true);
		const isThere = (path: string) =>
			files.has(path) || [...files].some((file) => file.startsWith(`${path}/`));
		const broken: string[] = [];
		for (const file of files) {
			if (!file.endsWith('.md')) continue;
			const text = await Bun.file(join(ROOT, folder, file)).text();
			for (const [, link = ''] of text.matchAll(LINK))
				if (!/^[a-z]+:/.test(link) && !isThere(normalize(join(dirname(file), link)).replace(/\/$/, '')))
					broken.push(`${file} → ${link}`);
		}
		expect(broken).toEqual([]);
	},
);

test('the client’s package builds itself, and has the server’s licence', async () => {
	const { scripts } = await Bun.file(join(ROOT, 'client/package.json')).json();
	expect(scripts.prepack).toBe('../bin/bun build.ts');
	expect(await Bun.file(join(ROOT, 'client/LICENSE')).text()).toBe(
		await Bun.file(join(ROOT, 'LICENSE')).text(),
	);
});

test('serve loads the clients of Kafka, Redis and Web Push only when it needs them', async () => {
	const { outputs } = await Bun.build({
		entrypoints: [join(ROOT, 'src/app/serve.ts')],
		target: 'bun',
		throw: true,
		packages: 'external',
	});
	const [bundle] = outputs;
	// Bundles only static imports: dynamic imports stay calls.
	const code = (await bundle?.text()) ?? '';
	expect(code).toMatch(/^import .*jose/m);
	expect(code).not.toMatch(/^import .*(?:@platformatic\/kafka|ioredis|web-push)/m);
});
