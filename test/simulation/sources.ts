import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * A static check that code under simulation takes time and randomness only from sources that globals.ts
 * replaces. It reads every file that is imported by `tidemark serve`, by the SDK, or by the parts of a
 * cluster and of push that a simulation runs.
 */

const ROOT = new URL('../../', import.meta.url).pathname;
const ENTRIES = [
	'src/app/serve.ts',
	'src/app/worker.ts',
	'src/engine/cluster/mark-ledger.ts',
	'src/engine/cluster/postgres/progress.ts',
	'src/engine/cluster/redis/bus.ts',
	'src/engine/cluster/redis/epochs.ts',
	'src/engine/cluster/redis/presence.ts',
	'src/engine/cluster/redis/read-state/redis-views.ts',
	'src/push/pusher.ts',
	'client/src/index.ts',
];

/** Sources of time and randomness that cannot be replaced. */
const REAL =
	/process\.hrtime|Bun\.nanoseconds|node:timers|randomInt\(|randomBytes\(|performance\.timeOrigin|Bun\.randomUUID|setTimeout\.__|node:perf_hooks/;

/** Files that a simulation does not run: key files, real disks, clients of push services, other processes. */
const LEFT_OUT = [
	/^src\/engine\/embedded\/sqlite\/(open|writer|writer-thread|file-guard|directory-lock)\.ts$/,
	/^src\/app\/(admin-token|private-files|vapid-key|push|failures|operations|failure-log)\.ts$/,
	/^src\/push\/((apns|fcm)\/|web\/(provider|services|http1|vapid)\.ts$|(http2-host|over-http2|cached-token)\.ts$)/,
	/^src\/gateway\/http\/web/,
];

const IMPORT = /(?:from|import)\s*\(?\s*'(\.[^']+)'/g;

/** Lines that use a source of time or randomness that cannot be replaced, as `file:line: text`. */
export function unsimulated(): string[] {
	const found: string[] = [];
	const seen = new Set<string>();
	const waiting = [...ENTRIES];
	for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
		if (seen.has(file) || LEFT_OUT.some((pattern) => pattern.test(file as string))) continue;
		seen.add(file);
		if (!existsSync(ROOT + file)) continue;
		const text = readFileSync(ROOT + file, 'utf8');
		for (const [, path] of text.matchAll(IMPORT)) waiting.push(join(dirname(file), path as string));
		for (const [index, line] of text.split('\n').entries())
			if (REAL.test(line)) found.push(`${file}:${index + 1}: ${line.trim()}`);
	}
	return found;
}
