import type { LoadReport, LoadSpec } from '../load/posts.ts';
import { LineReader } from './lines.ts';
import { BUN, ROOT } from './paths.ts';
import { cpuSeconds } from './process-cpu.ts';
import type { Bench } from './scenario.ts';
import { end } from './server.ts';

/** A load generator, controlled by the benchmark: connected and warm, waiting for the start. */

export interface Measured extends LoadReport {
	/** CPU of all processes of the server. */
	readonly cpuSeconds: number;
}

/** Eight digits each, with room for 300,000 posts on each of 256 connections. */
export const firstIdOf = (connection: number): number => 10_000_000 + connection * 300_000;

export class Load {
	private constructor(
		private readonly child: Bun.Subprocess<'pipe', 'pipe', 'inherit'>,
		private readonly lines: LineReader,
	) {}

	static async start(bench: Bench, spec: LoadSpec): Promise<Load> {
		const child = Bun.spawn([BUN, `${ROOT}/bench/load/posts.ts`], { stdio: ['pipe', 'pipe', 'inherit'] });
		bench.atEnd(() => end(child, 'SIGKILL'));
		const load = new Load(child, new LineReader(child.stdout));
		await load.sendLine(JSON.stringify(spec));
		await load.lines.next();
		return load;
	}

	/** One round of posts, and the server's cost of it. */
	async round({ pids }: { readonly pids: readonly number[] }): Promise<Measured> {
		const before = cpuSecondsOf(pids);
		await this.sendLine('go');
		const report = JSON.parse(await this.lines.next()) as LoadReport;
		return { ...report, cpuSeconds: cpuSecondsOf(pids) - before };
	}

	async stop(): Promise<void> {
		await end(this.child, 'SIGKILL');
	}

	private async sendLine(line: string): Promise<void> {
		this.child.stdin.write(`${line}\n`);
		await this.child.stdin.flush();
	}
}

export const cpuSecondsOf = (pids: readonly number[]): number =>
	pids.reduce((sum, pid) => sum + cpuSeconds(pid), 0);

/** A ticket for a socket, from rtm.connect. */
export async function ticketFor(
	url: string,
	token: string,
	args: Readonly<Record<string, string>> = {},
): Promise<string> {
	const response = await fetch(`${url}/api/rtm.connect`, {
		method: 'POST',
		headers: { authorization: `Bearer ${token}` },
		body: new URLSearchParams(args),
	});
	const answer = (await response.json()) as { ok: boolean; url?: string; error?: string };
	const ticket = answer.url && new URL(answer.url).pathname.split('/').at(-1);
	if (!ticket) throw new Error(`rtm.connect answered ${answer.error}`);
	return ticket;
}
