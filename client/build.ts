import { rm } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Builds the package into client/dist: one minified module per entry, and declarations. `npm run build:client` runs
 * it, and so do tests of the published package.
 */

const root = import.meta.dir;
const TSC = join(root, '..', 'node_modules', 'typescript-native', 'bin', 'tsc');

export async function buildClient(outdir = join(root, 'dist')): Promise<void> {
	await rm(outdir, { recursive: true, force: true });
	const built = await Bun.build({
		entrypoints: [join(root, 'src', 'index.ts'), join(root, 'src', 'react.ts')],
		outdir,
		target: 'browser',
		format: 'esm',
		minify: true,
		sourcemap: 'linked',
		external: ['react'],
	});
	if (!built.success) throw new AggregateError(built.logs, 'the client could not be bundled');
	const types = Bun.spawn([TSC, '-p', root, '--outDir', outdir], { stdio: ['ignore', 'inherit', 'inherit'] });
	if ((await types.exited) !== 0) throw new Error('the declarations of the client could not be generated');
}

if (import.meta.main) await buildClient();
