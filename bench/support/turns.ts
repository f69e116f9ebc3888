import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The CPU time of the longest turn of a server's event loop: unlike waiting times at a client, other processes do not
 * lengthen it.
 */

export class Turns {
	readonly environment: Readonly<Record<string, string>>;
	readonly #file: string;
	#seen = 0;

	constructor(file: string) {
		this.#file = file;
		const preload = `--preload=${join(import.meta.dir, 'turns-preload.ts')}`;
		this.environment = { BUN_OPTIONS: preload, TIDEMARK_BENCH_TURNS: file };
	}

	/** The longest turn since the last call, in milliseconds; 0 if none was long. */
	longestMs(): number {
		const lines = existsSync(this.#file) ? readFileSync(this.#file, 'utf8').split('\n').slice(0, -1) : [];
		const later = lines.slice(this.#seen);
		this.#seen = lines.length;
		return Math.max(0, ...later.map((line) => Number(line.split(' ')[1])));
	}
}
