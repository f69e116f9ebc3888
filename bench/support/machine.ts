import { closeSync, fdatasyncSync, openSync, readFileSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { cpus, loadavg, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { median } from './figures.ts';
import { ROOT } from './paths.ts';

/** The machine and the code that were measured: without these, figures mean nothing. */

const EXT4 = 0xef53;
const TMPFS = 0x01021994;

export function describeMachine(directory: string): Record<string, string | number> {
	const [cpu] = cpus();
	return {
		cpu: `${cpus().length} × ${cpu?.model.trim() ?? 'unknown'}`,
		memory: `${Math.round(totalmem() / 2 ** 30)} GB`,
		kernel: release(),
		bun: Bun.version,
		disk: diskOf(directory),
		'one durable 4 KB write': `${(durableWriteMs(directory)).toFixed(2)} ms`,
		'load before the start': loadavg()[0]?.toFixed(2) ?? '',
	};
}

function diskOf(directory: string): string {
	const { type } = statfsSync(directory);
	if (type === TMPFS) return 'tmpfs: nothing here is durable, figures of durable posts are void';
	return type === EXT4 ? 'ext4' : `file system 0x${type.toString(16)}`;
}

/** The time of the disk itself: the minimum for every acknowledgement. */
function durableWriteMs(directory: string): number {
	const path = join(directory, 'durable-write');
	const file = openSync(path, 'w');
	const block = Buffer.alloc(4096, 1);
	const times: number[] = [];
	for (let index = 0; index < 40; index += 1) {
		const started = performance.now();
		writeSync(file, block);
		fdatasyncSync(file);
		times.push(performance.now() - started);
	}
	closeSync(file);
	rmSync(path);
	return median(times);
}

/** The measured code: the commit, and uncommitted changes. */
export interface Tree {
	readonly commit: string;
	readonly changes: string;
}

export function treeOf(): Tree {
	const commit = git('rev-parse', 'HEAD')?.trim();
	if (commit === undefined) {
		const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
		return { commit: `version ${version}`, changes: '' };
	}
	// `git status` names new files, which a diff leaves out.
	const changes = [git('diff', 'HEAD', '--', 'src'), git('status', '--porcelain', '--', 'src')].join('');
	return { commit, changes };
}

/** The commit that was measured since `before`, with remarks about it. */
export function measuredCommit(before: Tree): string {
	const after = treeOf();
	if (after.commit !== before.commit || after.changes !== before.changes)
		return `${before.commit}, but the code changed during the run`;
	return before.changes === '' ? before.commit : `${before.commit} with changes`;
}

function git(...args: readonly string[]): string | undefined {
	if (Bun.which('git') === null) return undefined;
	const { exitCode, stdout } = Bun.spawnSync(['git', ...args], { cwd: ROOT, stderr: 'ignore' });
	return exitCode === 0 ? stdout.toString() : undefined;
}
