import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';

export const ROOT = join(import.meta.dir, '..', '..');

/**
 * Runs a command, appends its output and its CPU time (with that of its children) to a file, and returns the exit code or the signal
 * that ended it.
 */
export async function run(
	command: readonly string[],
	output: string,
	env: Readonly<Record<string, string>> = {},
): Promise<number | string> {
	const child = Bun.spawn(['sh', '-c', 'exec "$@" >> "$0" 2>&1', output, ...command], {
		cwd: ROOT,
		env: { ...process.env, ...env },
		stdio: ['ignore', 'inherit', 'inherit'],
	});
	const code = await child.exited;
	const cpuSeconds = Number(child.resourceUsage()?.cpuTime.total ?? 0) / 1e6;
	await appendFile(output, `CPU: ${cpuSeconds.toFixed(0)} s\n`);
	return child.signalCode ?? code;
}
