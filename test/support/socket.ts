import { rawClient } from './api.ts';
import { Awaited } from './awaited.ts';
import type { Person } from './people.ts';

/** A plain WebSocket to the server: its frames are recorded in order, and can be awaited. */

export interface Frame {
	readonly type?: string;
	// biome-ignore lint/suspicious/noExplicitAny: frames are read as tests expect them to be
	readonly [field: string]: any;
}

export interface Closing {
	readonly code: number;
	readonly reason: string;
}

/** A predicate, or fields that a frame must have. */
type FrameFilter = ((frame: Frame) => boolean) | Readonly<Record<string, unknown>>;

export class TestSocket {
	readonly closed: Promise<Closing>;
	private readonly socket: WebSocket;
	private readonly received = new Awaited<Frame>();
	private nextId = 1;

	constructor(url: string, headers: Readonly<Record<string, string>> = {}) {
		this.socket = new WebSocket(url, { headers });
		this.socket.onmessage = ({ data }) => this.received.add(JSON.parse(String(data)));
		this.closed = new Promise((done) => {
			this.socket.onclose = ({ code, reason }) => done({ code, reason });
		});
	}

	get frames(): Frame[] {
		return this.received.items;
	}

	/** The first matching frame; waits for it if it has not arrived yet. */
	async seen(wanted: FrameFilter): Promise<Frame> {
		const [frame] = await this.all(1, wanted);
		if (!frame) throw new Error('no frame arrived');
		return frame;
	}

	/** This many matching frames, in order of arrival. */
	all(count: number, wanted: FrameFilter): Promise<Frame[]> {
		const matches = typeof wanted === 'function' ? wanted : fields(wanted);
		return this.received.all(count, matches, () => {
			const shown = this.frames.slice(-10).map((frame) => JSON.stringify(frame).slice(0, 300));
			const what = typeof wanted === 'function' ? String(wanted) : JSON.stringify(wanted);
			return `${count} of ${what}; the last frames:\n${shown.join('\n')}`;
		});
	}

	having(wanted: FrameFilter): Frame[] {
		return this.frames.filter(typeof wanted === 'function' ? wanted : fields(wanted));
	}

	/** Sends a frame with an unused id, and waits for its answer. */
	async ask(frame: Readonly<Record<string, unknown>>): Promise<Frame> {
		const id = this.freshId();
		this.sendText(JSON.stringify({ id, ...frame }));
		return this.seen({ reply_to: id });
	}

	/** Sends a frame that gets no answer. */
	send(frame: Readonly<Record<string, unknown>>): void {
		this.sendText(JSON.stringify({ id: this.freshId(), ...frame }));
	}

	/** Resolves when everything that the server had for this socket has arrived. */
	async settled(): Promise<void> {
		await this.ask({ type: 'ping' });
	}

	sendText(text: string): void {
		this.socket.send(text);
	}

	close(): void {
		this.socket.close();
	}

	/**
	 * Ids above 100: `hello` has `reply_to: 1` for Slack's client, so it would look like the answer to frame 1.
	 */
	private freshId(): number {
		this.nextId += 1;
		return 100 + this.nextId;
	}
}

const fields =
	(wanted: Readonly<Record<string, unknown>>) =>
	(frame: Frame): boolean =>
		Object.entries(wanted).every(([name, value]) => frame[name] === value);

/** An address for a socket, which works once. */
export async function socketUrl(
	person: Person,
	args: Readonly<Record<string, unknown>> = {},
): Promise<string> {
	return (await person.call('rtm.connect', args)).url;
}

/** A socket of this user that has received hello. */
export async function connect(
	person: Person,
	args: Readonly<Record<string, unknown>> = {},
): Promise<TestSocket> {
	const socket = new TestSocket(await socketUrl(person, args));
	await socket.seen({ type: 'hello' });
	return socket;
}

/** Calls the API as this user; errors are returned, not thrown. */
export const rawCallsOf = (url: string, person: Person) => rawClient(url, person.token);
