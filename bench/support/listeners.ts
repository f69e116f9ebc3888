import { LineReader } from './lines.ts';
import { compile } from './peers.ts';
import type { Bench } from './scenario.ts';
import { end } from './server.ts';

/** Many connected clients that only receive, in a small process, controlled by the benchmark. */

export interface Received {
	readonly halfMs: number;
	readonly lastMs: number;
}

/** The protocol of the clients: plain frames, or Socket.IO's packets. */
export type Protocol = 'plain' | 'socket.io';

export class Listeners {
	/** By number: messages that are awaited, and messages that have arrived and are not awaited yet. */
	private readonly messages = new Map<number, PromiseWithResolvers<Received>>();

	/** The reason why nothing is received any more. */
	private failure: unknown;

	private constructor(
		private readonly lines: LineReader,
		/** Closes all sockets. */
		readonly stop: () => Promise<void>,
	) {}

	/** Resolves when all sockets are connected. */
	static async connect(
		bench: Bench,
		port: number,
		paths: readonly string[],
		protocol: Protocol = 'plain',
	): Promise<Listeners> {
		const program = compile('fan-out-clients');
		const child = Bun.spawn([program, String(port), protocol], { stdio: ['pipe', 'pipe', 'inherit'] });
		bench.atEnd(() => end(child, 'SIGKILL'));
		child.stdin.write(`${paths.join('\n')}\n\n`);
		await child.stdin.flush();
		const listeners = new Listeners(new LineReader(child.stdout), () => end(child, 'SIGKILL'));
		await listeners.lines.next();
		void listeners.read();
		return listeners;
	}

	/** How long the message with this number took to reach the sockets. May be called before or after it has arrived. */
	async received(number: number): Promise<Received> {
		if (this.failure !== undefined) throw this.failure;
		const received = await this.message(number).promise;
		this.messages.delete(number);
		return received;
	}

	private message(number: number): PromiseWithResolvers<Received> {
		const message = this.messages.get(number) ?? Promise.withResolvers<Received>();
		this.messages.set(number, message);
		return message;
	}

	private async read(): Promise<void> {
		try {
			for (;;) {
				const [number = 0, half = 0, last = 0] = (await this.lines.next()).split(' ').map(Number);
				this.message(number).resolve({ halfMs: half / 1e6, lastMs: last / 1e6 });
			}
		} catch (error) {
			// This also happens when the process is killed at the end; then nothing is awaited.
			this.failure = error;
			for (const { reject } of this.messages.values()) reject(error);
		}
	}
}

/** The text that listeners need to time a message. */
export const timedText = (number: number): string =>
	`#${number}@${Math.round((performance.timeOrigin + performance.now()) * 1000)}000#`;
