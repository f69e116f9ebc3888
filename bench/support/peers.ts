import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { firstLineWith } from './lines.ts';
import { BUN, ROOT, TEMPORARY } from './paths.ts';
import { type Bench, MissingRequirement } from './scenario.ts';
import { end } from './server.ts';

/** Small servers that do one thing, for comparison with Tidemark; started here. */

export interface Peer {
	readonly pid: number;
	readonly port: number;
}

export const CFLAGS = ['-O2', '-Wall'];

/** Call this first: without a compiler, the time to fill a dataset would be wasted. */
export function needCompiler(): void {
	if (Bun.which('gcc') === null)
		throw new MissingRequirement(
			'this scenario compiles small C programs to measure with: install gcc, and run it again',
		);
}

/** Compiles a file of bench/peers, and returns the path of the program. */
export function compile(name: string): string {
	needCompiler();
	mkdirSync(TEMPORARY, { recursive: true });
	const program = join(TEMPORARY, name);
	const source = join(ROOT, 'bench', 'peers', `${name}.c`);
	const { exitCode, stderr } = Bun.spawnSync(['gcc', ...CFLAGS, '-D_GNU_SOURCE', '-o', program, source]);
	if (exitCode !== 0) throw new Error(`gcc could not compile ${name}.c:\n${stderr.toString()}`);
	return program;
}

export const bareBun = (bench: Bench): Promise<Peer> =>
	startPeer(bench, [BUN, join(ROOT, 'bench', 'peers', 'bare-bun.ts')]);

export const cServer = (bench: Bench): Promise<Peer> => startPeer(bench, [compile('fan-out-server')]);

/** Runs a server that prints `port N` when it listens. */
export async function startPeer(bench: Bench, command: string[]): Promise<Peer> {
	const child = Bun.spawn(command, { stdio: ['ignore', 'pipe', 'inherit'] });
	bench.atEnd(() => end(child, 'SIGKILL'));
	const line = await firstLineWith(child.stdout, 'port ');
	return { pid: child.pid, port: Number(line.split(' ')[1]) };
}
