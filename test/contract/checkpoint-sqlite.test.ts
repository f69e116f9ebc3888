import { afterEach, expect, test } from 'bun:test';
import { statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DATABASE_FILE, openSqliteStore } from '../../src/engine/embedded/sqlite/open.ts';
import type { Effect } from '../../src/sequencer/effects.ts';
import { eventually } from '../support/eventually.ts';
import { signalAndWait } from '../support/signal.ts';
import { BEGIN, conversation, created, deleted, message, posted } from '../support/store/facts.ts';

/**
 * A disk that is full when the server empties its write-ahead log. The process of the store may write files only up to a size: the log
 * still fits, but the database cannot take its pages.
 */

const LIMIT_BYTES = 3_500_000;
const LARGE_BYTES = 2_000_000;
const SCRIPT = new URL('../support/store/commit-lines.ts', import.meta.url).pathname;
const channel = conversation('C01');
const at = (step: number): number => BEGIN + step;
const large = (step: number): Effect =>
	posted(channel, message('C01', at(step), { text: 'x'.repeat(LARGE_BYTES) }));
const small = (step: number): Effect => posted(channel, message('C01', at(step)));
/** Makes the store empty its log, which still has the text. */
const erased = (step: number, by: number): Effect => deleted(channel, message('C01', at(step)), at(by));

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
	for (const close of closing.splice(0).reverse()) await close();
});

async function limitedStore(directory: string) {
	// Without the trap, the signal about the limit would end the process.
	const command = `trap '' XFSZ; exec prlimit --fsize=${LIMIT_BYTES}:unlimited "$@"`;
	const child = Bun.spawn(['sh', '-c', command, 'sh', process.execPath, SCRIPT, directory], {
		stdio: ['pipe', 'pipe', 'inherit'],
	});
	closing.push(async () => {
		child.kill('SIGKILL');
		await child.exited;
	});
	const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
	return {
		commit: async (...facts: readonly Effect[]): Promise<string> => {
			child.stdin.write(`${JSON.stringify(facts)}\n`);
			await child.stdin.flush();
			return (await lines.read()).value?.trim() ?? '';
		},
		lift: () => Bun.spawn(['prlimit', '--pid', String(child.pid), '--fsize=unlimited']).exited,
		kill: () => signalAndWait(child.pid, 'SIGKILL'),
	};
}

test('a disk that is full at a checkpoint: writes continue, and the log is emptied once there is room', async () => {
	const directory = await mkdtemp(join(tmpdir(), 'tidemark-checkpoint-'));
	closing.push(() => rm(directory, { recursive: true }));
	const bytesOf = (suffix: string): number => statSync(join(directory, DATABASE_FILE + suffix)).size;
	// Its file only shrinks when the log is emptied. It may grow again at once, because the store indexes new messages in the background.
	const emptied = () => eventually(async () => expect(bytesOf('-wal')).toBeLessThan(LARGE_BYTES), 30_000);
	const store = await limitedStore(directory);
	expect(await store.commit(created(channel, ['U01']), small(1), small(2), large(3), erased(1, 4))).toBe(
		'committed',
	);
	await emptied();
	const before = bytesOf('');
	expect(await store.commit(large(5), erased(2, 6))).toBe('committed');
	// The checkpoint writes until it reaches the limit.
	await eventually(async () => expect(bytesOf('')).toBeGreaterThan(before), 30_000);
	for (const step of [7, 8, 9]) expect(await store.commit(small(step))).toBe('committed');
	expect(bytesOf('-wal')).toBeGreaterThan(LARGE_BYTES);
	expect(bytesOf('')).toBeLessThanOrEqual(LIMIT_BYTES);
	await store.lift();
	await emptied();
	expect(await store.commit(small(10))).toBe('committed');
	await store.kill();
	const { history, close } = await openSqliteStore(directory);
	closing.push(close);
	const kept = await history.timeline('C01', {
		after: 0,
		before: Number.MAX_SAFE_INTEGER,
		limit: 100,
		nearest: 'oldest',
	});
	expect(kept.map(({ ts }) => ts - BEGIN)).toEqual([3, 5, 7, 8, 9, 10]);
}, 120_000);
