import { cp, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildClient } from '../../../client/build.ts';

/** The package as published, installed in a directory of its own. */

const ROOT = join(import.meta.dir, '..', '..', '..');
/** What examples and types need besides the package. */
const NEIGHBOURS = ['react', 'react-dom', 'scheduler', 'ws', '@types/react', 'csstype'];

export interface Installed {
	readonly directory: string;
	/** Files of the package, by their name in dist. */
	dist(name: string): Promise<Uint8Array<ArrayBuffer>>;
	/** Runs a program with Node, and returns its output. Fails if the program fails. */
	node(source: string): Promise<string>;
	/** Type errors of a program that uses the package. */
	typeErrors(source: string): Promise<string>;
	remove(): Promise<void>;
}

export async function installPackage(): Promise<Installed> {
	const directory = await mkdtemp(join(tmpdir(), 'tidemark-package-'));
	const home = join(directory, 'node_modules', '@tidemark', 'client');
	await buildClient(join(home, 'dist'));
	await cp(join(ROOT, 'client', 'package.json'), join(home, 'package.json'));
	await mkdir(join(directory, 'node_modules', '@types'));
	for (const name of NEIGHBOURS)
		await symlink(join(ROOT, 'node_modules', name), join(directory, 'node_modules', name));
	return {
		directory,
		dist: async (name) => Bun.file(join(home, 'dist', name)).bytes(),
		node: (source) => runNode(directory, source),
		typeErrors: (source) => typeErrors(directory, source),
		remove: () => rm(directory, { recursive: true, force: true }),
	};
}

async function run(
	command: string[],
	directory: string,
): Promise<{ code: number; out: string; err: string }> {
	const child = Bun.spawn(command, { cwd: directory, stdio: ['ignore', 'pipe', 'pipe'] });
	const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
	return { code, out, err };
}

async function runNode(directory: string, source: string): Promise<string> {
	const program = join(directory, 'program.mjs');
	await Bun.write(program, source);
	const { code, out, err } = await run(['node', program], directory);
	if (code !== 0) throw new Error(`the program ended with ${code}:\n${out}\n${err}`);
	return out;
}

async function typeErrors(directory: string, source: string): Promise<string> {
	await Bun.write(join(directory, 'program.ts'), source);
	const tsc = join(ROOT, 'node_modules', '.bin', 'tsc');
	const options = [
		'--strict',
		'--noEmit',
		'--module',
		'nodenext',
		'--target',
		'es2022',
		'--lib',
		'es2022,dom',
	];
	return (await run([tsc, ...options, 'program.ts'], directory)).out;
}
