import { LineReader } from './lines.ts';
import { compile } from './peers.ts';
import type { Bench } from './scenario.ts';
import { end } from './server.ts';

/** Many connected clients that only listen, in a lean process, seen from the benchmark. */

export interface Heard {
	readonly halfMs: number;
	readonly lastMs: number;
}

export class Listeners {
	private constructor(private readonly lines: LineReader) {}

	/** Resolves when all of them are connected. */
	static async connect(bench: Bench, port: number, paths: readonly string[]): Promise<Listeners> {
		const program = compile('fan-out-clients');
		const child = Bun.spawn([program, String(port)], { stdio: ['pipe', 'pipe', 'inherit'] });
		bench.atEnd(() => end(child, 'SIGKILL'));
		child.stdin.write(`${paths.join('\n')}\n\n`);
		await child.stdin.flush();
		const listeners = new Listeners(new LineReader(child.stdout));
		await listeners.lines.next();
		return listeners;
	}

	/** When the message with this number had reached everybody. */
	async heard(number: number): Promise<Heard> {
		for (;;) {
			const [which, half, last] = (await this.lines.next()).split(' ').map(Number);
			if (which === number) return { halfMs: (half ?? 0) / 1e6, lastMs: (last ?? 0) / 1e6 };
		}
	}
}

/** What a text has to contain for listeners to time it. */
export const timedText = (number: number): string =>
	`#${number}@${Math.round((performance.timeOrigin + performance.now()) * 1000)}000#`;
