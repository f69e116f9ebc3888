import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './paths.ts';
import { type Peer, startPeer } from './peers.ts';
import { type Bench, MissingRequirement } from './scenario.ts';

/**
 * Other projects' servers, on Node. Their packages are installed beside the repository's own, exactly as the lock file
 * in bench/peers/node says; nothing else depends on them.
 */

const SOURCES = join(ROOT, 'bench', 'peers', 'node');
const INSTALLED = ['package.json', 'package-lock.json'] as const;

export interface NodePeers {
	/** `node` and the installed packages. */
	readonly versions: Readonly<Record<'node' | 'ws' | 'socket.io' | 'engine.io', string>>;
	start(bench: Bench, file: 'ws.mjs' | 'socket-io.mjs'): Promise<Peer>;
}

export async function nodePeers(bench: Bench): Promise<NodePeers> {
	const node = Bun.which('node');
	if (node === null || Bun.which('npm') === null)
		throw new MissingRequirement('ws and socket.io run on Node: install Node and npm, and run it again');
	const directory = await install(bench);
	const versionOf = (name: string): string => {
		const path = join(directory, 'node_modules', name, 'package.json');
		return (JSON.parse(readFileSync(path, 'utf8')) as { version: string }).version;
	};
	return {
		versions: {
			node: Bun.spawnSync([node, '--version']).stdout.toString().trim(),
			ws: versionOf('ws'),
			'socket.io': versionOf('socket.io'),
			'engine.io': versionOf('engine.io'),
		},
		start: (run, file) => startPeer(run, [node, join(SOURCES, file), directory]),
	};
}

/** Returns the directory of the packages. It is named after its content: another lock file has another directory. */
async function install(bench: Bench): Promise<string> {
	const hash = Bun.hash(INSTALLED.map((name) => readFileSync(join(SOURCES, name), 'utf8')).join('\n'));
	const directory = join(ROOT, 'node_modules', '.cache', `bench-peers-${hash.toString(36)}`);
	const complete = join(directory, 'complete');
	if (existsSync(complete)) return directory;
	bench.progress('installing ws and socket.io');
	rmSync(directory, { recursive: true, force: true });
	mkdirSync(directory, { recursive: true });
	for (const name of INSTALLED) copyFileSync(join(SOURCES, name), join(directory, name));
	const npm = Bun.spawn(['npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
		cwd: directory,
		stdio: ['ignore', 'ignore', 'pipe'],
	});
	const output = await new Response(npm.stderr).text();
	if ((await npm.exited) !== 0)
		throw new MissingRequirement(`npm could not install ws and socket.io:\n${output}`);
	writeFileSync(complete, '');
	return directory;
}
