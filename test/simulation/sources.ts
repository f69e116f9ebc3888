import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * A static check: what runs in a simulation takes time and chance only from what globals.ts replaces. Everything that the
 * composition of a server and of the SDK imports is read.
 */

const ROOT = new URL('../../', import.meta.url).pathname;
const ENTRIES = ['src/app/serve.ts', 'client/src/index.ts'];

/** Sources that cannot be replaced: bound at import, or the machine's own. */
const REAL =
	/process\.hrtime|Bun\.nanoseconds|node:timers|randomInt\(|randomBytes\(|performance\.timeOrigin|Bun\.randomUUID|setTimeout\.__|node:perf_hooks/;

/** Not part of a history: a file for keys, real disks, push services, other processes. */
const LEFT_OUT = [
	/^src\/engine\/embedded\/sqlite\/(open|writer|writer-thread|file-guard|directory-lock)\.ts$/,
	/^src\/app\/(admin-token|private-files|vapid-key|push|failures|operations|failure-log)\.ts$/,
	/^src\/push\//,
	/^src\/gateway\/http\/web/,
];

const IMPORT = /(?:from|import)\s*\(?\s*'(\.[^']+)'/g;

/** Lines that do, as `file:line: text`. */
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
