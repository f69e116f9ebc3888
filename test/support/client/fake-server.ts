import type { ClientOptions, Timers, WebSocketLike } from '../../../client/src/index.ts';

/**
 * A server with prepared answers and a clock that the test moves: for situations that a real server does not produce on
 * demand, and for tests that must not depend on the speed of a machine.
 */

type Json = Record<string, unknown>;
type Answers = Record<string, (args: Json) => Json | Promise<Json>>;

export const START = '1700000000000000';

/** A row of client.counts with nothing unread. */
export const row = (id: string, more: Json = {}): Json => ({
	id,
	last_read: '0000000000.000000',
	latest: '0000000000.000000',
	has_unreads: false,
	unread_count: 0,
	unread_count_display: 0,
	mention_count: 0,
	badge_count: 0,
	is_muted: false,
	notification_level: 'all',
	revision: 0,
	position: START + START,
	...more,
});

export const channel = (id: string): Json => ({
	id,
	name: id.toLowerCase(),
	is_channel: true,
	is_member: true,
});

export const counts = (rows: readonly Json[]): Json => ({
	channels: rows,
	mpims: [],
	ims: [],
	threads: { has_unreads: false, unread_count: 0, mention_count: 0, badge_count: 0 },
	badge: 0,
	position: START,
});

export class FakeSocket implements WebSocketLike {
	onmessage: WebSocketLike['onmessage'] = null;
	onclose: WebSocketLike['onclose'] = null;
	onerror: WebSocketLike['onerror'] = null;
	readonly sent: Json[] = [];
	isClosed = false;

	/** The server answers no ping: the network loses everything. */
	isSilent = false;

	send(data: string): void {
		const frame: Json = JSON.parse(data);
		this.sent.push(frame);
		if (frame.type === 'ping' && !this.isSilent)
			queueMicrotask(() => {
				if (!this.isClosed) this.push({ type: 'pong', reply_to: frame.id });
			});
	}

	close(): void {
		this.isClosed = true;
	}

	push(...frames: Json[]): void {
		for (const frame of frames) this.onmessage?.({ data: JSON.stringify(frame) });
	}

	hello(missed = 0): void {
		this.push({ type: 'hello', position: START, missed });
	}

	end(code: number): void {
		this.onclose?.({ code, reason: '' });
	}
}

/** Timers that fire when the test moves the clock. */
export class FakeTime implements Timers {
	now = 1_700_000_000_000;
	private readonly pending = new Map<number, { at: number; callback: () => void }>();
	private next = 1;

	set(callback: () => void, ms: number): number {
		this.next += 1;
		this.pending.set(this.next, { at: this.now + ms, callback });
		return this.next;
	}

	clear(timer: unknown): void {
		this.pending.delete(timer as number);
	}

	/** Moves the clock from one timer to the next, and completes everything that each timer causes. */
	async pass(ms: number): Promise<void> {
		const end = this.now + ms;
		for (;;) {
			await Bun.sleep(0);
			const due = [...this.pending].filter(([, { at }]) => at <= end).sort(([, a], [, b]) => a.at - b.at)[0];
			if (!due) break;
			const [timer, { at, callback }] = due;
			this.pending.delete(timer);
			this.now = Math.max(this.now, at);
			callback();
		}
		this.now = end;
		await Bun.sleep(0);
	}
}

export class FakeServer {
	readonly time = new FakeTime();
	readonly sockets: FakeSocket[] = [];
	readonly calls: {
		readonly method: string;
		readonly args: Json;
		readonly token: string;
		readonly at: number;
	}[] = [];
	random = 0.5;

	constructor(readonly answers: Answers = {}) {}

	get socket(): FakeSocket {
		const socket = this.sockets.at(-1);
		if (!socket) throw new Error('nobody has connected yet');
		return socket;
	}

	callsOf(method: string) {
		return this.calls.filter((call) => call.method === method);
	}

	get options(): ClientOptions {
		const { sockets, time } = this;
		return {
			url: 'http://fake',
			token: 'xoxp-1',
			WebSocket: class extends FakeSocket {
				constructor() {
					super();
					sockets.push(this);
				}
			},
			fetch: this.fetch as unknown as typeof fetch,
			now: () => time.now,
			random: () => this.random,
			timers: time,
		};
	}

	private readonly fetch = async (input: string, init: RequestInit): Promise<Response> => {
		const method = input.replace('http://fake/api/', '');
		const args = JSON.parse(String(init.body));
		const headers = init.headers as Record<string, string>;
		this.calls.push({ method, args, token: String(headers.authorization).slice(7), at: this.time.now });
		const answer = await (this.answers[method] ?? DEFAULTS[method])?.(args);
		if (!answer) throw new TypeError(`no answer to ${method}`);
		const { retryAfter, ...body } = answer;
		const answerHeaders = retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) };
		return new Response(JSON.stringify({ ok: body.error === undefined, ...body }), {
			headers: answerHeaders,
		});
	};
}

const DEFAULTS: Answers = {
	'client.counts': () => counts([row('C1')]),
	'users.conversations': () => ({ channels: [channel('C1')] }),
	'rtm.connect': () => ({
		url: 'ws://fake',
		self: { id: 'U1', name: 'ada' },
		team: { id: 'T1', name: 'Harbour' },
	}),
	'inbox.list': () => ({ items: [] }),
};
