import { appendFileSync, closeSync, openSync, readSync } from 'node:fs';

/**
 * Preloaded into a measured server: appends the CPU time of each long turn of its event loop to a file. CPU time, not
 * wall time, so that other processes do not count. The scheduler updates its figure every few milliseconds.
 */

const LONG_MS = 15;
const file = process.env.TIDEMARK_BENCH_TURNS ?? '';
const main = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
const buffer = Buffer.alloc(128);

const cpuMs = (): number => {
	const length = readSync(main, buffer, 0, buffer.length, 0);
	return Number(buffer.toString('latin1', 0, length).split(' ', 1)[0]) / 1e6;
};

let before = cpuMs();
const timer = setInterval(() => {
	const now = cpuMs();
	if (now - before >= LONG_MS) appendFileSync(file, `${Date.now()} ${(now - before).toFixed(1)}\n`);
	before = now;
}, 1);
timer.unref();
process.on('exit', () => closeSync(main));
