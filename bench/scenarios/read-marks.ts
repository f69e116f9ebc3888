import type { MarksReport, MarksSpec } from '../load/marks.ts';
import { Dataset, tokenOf, usersFrom } from '../support/dataset.ts';
import { figure, quantile } from '../support/figures.ts';
import { ticketFor } from '../support/load.ts';
import { BUN, ROOT } from '../support/paths.ts';
import type { Bench, Scenario } from '../support/scenario.ts';
import { type BenchServer, startServer } from '../support/server.ts';

/** A mark: how soon it counts, and how soon the user's other device shows it. */

const MEMBERS = 50;
const DEVICES = 10;

export const readMarks: Scenario = {
	name: 'read-marks',
	about: 'A mark: the time until it is applied, acknowledged, and received by the user’s other device',
	run: async (bench) => {
		const marks = bench.pick(50, 400, 2_000);
		const applied: MarksReport[] = [];
		const seen: Seen[] = [];
		for (let run = 0; run < bench.runs; run += 1) {
			const workload = await fill(bench, run, marks);
			applied.push(await inProcess(workload, marks));
			seen.push(await overSockets(bench, workload, marks));
			bench.progress(`applied p95 ${applied[run]?.appliedP95Ms.toFixed(2)} ms`);
		}
		const of = (which: keyof Seen, share: number): number[] =>
			seen.map((round) => quantile(round[which], share));
		return {
			configuration: {
				conversation: `${MEMBERS} members, ${2 * marks} messages that nobody has read`,
				'in process': `${DEVICES} users mark at once, one message further each time, ${marks} times; without the network`,
				'over sockets': `${DEVICES} users with two sockets each; one socket sends ${marks} marks, each when it has the answer to the previous one and the other socket has received the event`,
			},
			figures: [
				figure(
					'applied, p95, in process',
					'ms',
					applied.map(({ appliedP95Ms }) => appliedP95Ms),
					{ atMost: 1 },
				),
				figure(
					'on disk, p95, in process',
					'ms',
					applied.map(({ durableP95Ms }) => durableP95Ms),
				),
				figure('seen by the other device, p99', 'ms', of('otherMs', 0.99), { atMost: 50 }),
				figure('seen by the other device, median', 'ms', of('otherMs', 0.5)),
				figure('acknowledged, p95', 'ms', of('answerMs', 0.95)),
			],
			notes: ['Neither device receives a mark before it is on disk.'],
		};
	},
};

interface Workload {
	readonly dataDir: string;
	readonly channel: string;
	readonly users: readonly string[];
}

async function fill(bench: Bench, run: number, marks: number): Promise<Workload> {
	const dataDir = bench.directory(`data-${run}`);
	const [author = '', ...users] = usersFrom(0, MEMBERS + 1);
	const dataset = await Dataset.open(dataDir);
	await dataset.users([author, ...users]);
	const { conversation, done } = dataset.channel([author, ...users]);
	await done;
	await dataset.messages(conversation, author, 2 * marks);
	await dataset.close();
	return { dataDir, channel: conversation.id, users };
}

async function inProcess(workload: Workload, marks: number): Promise<MarksReport> {
	const spec: MarksSpec = { ...workload, users: workload.users.slice(0, DEVICES), marks };
	const child = Bun.spawn([BUN, `${ROOT}/bench/load/marks.ts`], {
		stdio: [new TextEncoder().encode(JSON.stringify(spec)), 'pipe', 'inherit'],
	});
	return JSON.parse(await new Response(child.stdout).text()) as MarksReport;
}

interface Seen {
	readonly answerMs: number[];
	readonly otherMs: number[];
}

/** Continues where the other measurement ended: a mark that changes nothing is not published. */
async function overSockets(
	bench: Bench,
	{ dataDir, channel, users }: Workload,
	marks: number,
): Promise<Seen> {
	const server = await startServer(bench, dataDir);
	const [user = ''] = users;
	const unread = await unreadTs(server, user, channel, marks);
	const seen: Seen = { answerMs: [], otherMs: [] };
	await Promise.all(
		users.slice(0, DEVICES).map(async (user) => {
			const [one, other] = [await Device.open(server, user), await Device.open(server, user)];
			for (const [index, ts] of unread.entries()) {
				const began = performance.now();
				const answered = one.until((frame) => frame.reply_to === index + 2);
				const marked = other.until((frame) => frame.type === 'channel_marked' && frame.ts === ts);
				one.send({ id: index + 2, type: 'mark', channel, ts });
				const at = await Promise.all([answered, marked]);
				seen.answerMs.push(at[0] - began);
				seen.otherMs.push(at[1] - began);
			}
			one.close();
			other.close();
		}),
	);
	await server.stop();
	return seen;
}

/** Lists the ts of the next `count` unread messages of the user. */
async function unreadTs(
	server: BenchServer,
	user: string,
	channel: string,
	count: number,
): Promise<string[]> {
	const found: string[] = [];
	for (let cursor: string | undefined = ''; found.length < count && cursor !== undefined; ) {
		const page: Page = await fetch(`${server.url}/api/conversations.unreads`, {
			method: 'POST',
			headers: { authorization: `Bearer ${tokenOf(user)}`, 'content-type': 'application/json' },
			body: JSON.stringify({ channel, limit: 200, ...(cursor === '' ? {} : { cursor }) }),
		}).then((response) => response.json() as Promise<Page>);
		if (!page.ok) throw new Error(`conversations.unreads answered ${page.error}`);
		found.push(...page.messages.map(({ ts }) => ts));
		cursor = page.response_metadata?.next_cursor || undefined;
	}
	return found.slice(0, count);
}

interface Page {
	readonly ok: boolean;
	readonly error?: string;
	readonly messages: readonly { readonly ts: string }[];
	readonly response_metadata?: { readonly next_cursor?: string };
}

type Frame = Readonly<Record<string, unknown>>;

/** A socket that reports when it receives something. */
class Device {
	private waiting:
		| { readonly is: (frame: Frame) => boolean; readonly resolve: (at: number) => void }
		| undefined;

	private constructor(private readonly socket: WebSocket) {
		socket.onmessage = ({ data }) => {
			const at = performance.now();
			const { waiting } = this;
			if (!waiting?.is(JSON.parse(String(data)) as Frame)) return;
			this.waiting = undefined;
			waiting.resolve(at);
		};
	}

	static async open(server: BenchServer, user: string): Promise<Device> {
		const ticket = await ticketFor(server.url, tokenOf(user));
		const device = new Device(new WebSocket(`ws://127.0.0.1:${server.port}/rtm?ticket=${ticket}`));
		await device.until((frame) => frame.type === 'hello');
		return device;
	}

	/** Resolves with the time of arrival. */
	until(is: (frame: Frame) => boolean): Promise<number> {
		return new Promise((resolve) => {
			this.waiting = { is, resolve };
		});
	}

	send(frame: Frame): void {
		this.socket.send(JSON.stringify(frame));
	}

	close(): void {
		this.socket.close();
	}
}
