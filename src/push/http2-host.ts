import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2';

/**
 * Requests to one host over one HTTP/2 connection, with a limited number of streams; further requests wait.
 *
 * A request without an answer (the connection ended, the stream was reset, time ran out) is sent again a few times, over a
 * new connection if the old one has ended or answers no request. An earlier attempt may have arrived, so requests must be
 * idempotent.
 */

export interface HostAnswer {
	readonly status: number;
	readonly headers: Readonly<Record<string, string | string[] | undefined>>;
	readonly body: string;
}

export class HostUnreachable extends Error {
	constructor(
		host: string,
		private readonly why: string,
	) {
		super(`${host} is not reachable: ${why}`);
		this.name = 'HostUnreachable';
	}

	/** The host is reachable, but supports only HTTP/1. */
	get isWithoutHttp2(): boolean {
		return this.why === 'h2 is not supported';
	}
}

/** The host is reachable, but this request cannot be sent or gets no answer. */
export class RequestRejected extends Error {
	constructor(host: string, why: string) {
		super(`${host} did not accept the request: ${why}`);
		this.name = 'RequestRejected';
	}
}

export interface HostOptions {
	/** https://host[:port] */
	readonly url: string;
	/** Concurrent streams, if the host allows as many. */
	readonly maxStreams: number;
	readonly connectTimeoutMs: number;
	readonly answerTimeoutMs: number;
}

interface Connection {
	readonly session: ClientHttp2Session;
	/** Ends the connection, and its open requests without an answer. */
	drop(): void;
}

const DEFAULTS = { maxStreams: 1_000, connectTimeoutMs: 10_000, answerTimeoutMs: 10_000 };
/** Attempts of one request, and the time after which no further attempt starts: less than leases last. */
const MAX_TRIES = 4;
const GIVE_UP_MS = 20_000;

/**
 * Opens as many streams as this rate needs at the host's latency: 100 for answers in 10 ms, 500 for 50 ms. More streams do not
 * raise the rate: at 1,000 streams a request costs 1.5 times as much as at 100, and the answers arrive in one burst.
 */
const REQUESTS_PER_SECOND = 10_000;
const MIN_STREAMS = 100;
/**
 * Latency is the fastest answer in this time: slower ones measure the load of this process, not the distance to the
 * host.
 */
const FASTEST_OF_MS = 10_000;

export class Http2Host {
	private readonly options: HostOptions;
	private readonly host: string;
	private connection: Promise<Connection> | null = null;
	/** Streams that the host allows. */
	private allowed: number;
	private fastest = { ms: 0, until: 0 };
	private answeredAt = Number.NEGATIVE_INFINITY;
	private open = 0;
	private readonly waiting: (() => void)[] = [];
	private closed = false;

	constructor(options: Pick<HostOptions, 'url'> & Partial<HostOptions>) {
		this.options = { ...DEFAULTS, ...options };
		this.host = new URL(options.url).host;
		this.allowed = this.options.maxStreams;
	}

	/** Resolves when a connection is open. */
	async reach(): Promise<void> {
		await this.connected();
	}

	async post(
		path: string,
		headers: Readonly<Record<string, string>>,
		body: string | Uint8Array,
	): Promise<HostAnswer> {
		while (this.open >= this.streams()) await new Promise<void>((resolve) => this.waiting.push(resolve));
		this.open += 1;
		try {
			const started = performance.now();
			const end = started + GIVE_UP_MS;
			let answer: HostAnswer | null = null;
			for (let tries = 0; answer === null && tries < MAX_TRIES && performance.now() < end; tries += 1)
				answer = await this.exchange(await this.connected(), path, headers, body);
			if (answer === null) throw this.unanswered(started);
			this.noteAnswer(started);
			return answer;
		} finally {
			this.open -= 1;
			this.waiting.shift()?.();
		}
	}

	/** If the host has answered anything since 10 s before this request started, it is reachable, and this request is at fault. */
	private unanswered(started: number): Error {
		return this.answeredAt >= started - FASTEST_OF_MS
			? new RequestRejected(this.host, 'it answers other requests, but not this one')
			: new HostUnreachable(this.host, 'it answers no request');
	}

	private streams(): number {
		const wanted = (this.fastest.ms / 1000) * REQUESTS_PER_SECOND;
		return Math.min(this.allowed, Math.max(MIN_STREAMS, Math.ceil(wanted)));
	}

	private noteAnswer(started: number): void {
		const now = performance.now();
		const ms = now - started;
		this.answeredAt = now;
		if (ms < this.fastest.ms || now > this.fastest.until) this.fastest = { ms, until: now + FASTEST_OF_MS };
		// A longer latency allows more streams: resume as many waiting requests as fit, not just one.
		for (const resume of this.waiting.splice(0, this.streams() - this.open)) resume();
	}

	close(): void {
		this.closed = true;
		this.connection?.then(
			({ session }) => session.destroy(),
			() => undefined,
		);
	}

	private connected(): Promise<Connection> {
		if (this.closed) return Promise.reject(new HostUnreachable(this.host, 'this server is stopping'));
		if (this.connection === null) {
			const opening = this.openConnection(() => {
				// A newer connection may exist already.
				if (this.connection === opening) this.connection = null;
			});
			this.connection = opening;
		}
		return this.connection;
	}

	/** Resolves when the host has sent its settings, which contain the number of streams that it allows. */
	private openConnection(ended: () => void): Promise<Connection> {
		return new Promise((resolve, reject) => {
			const session = connect(this.options.url);
			const end = (why: string): void => {
				clearTimeout(timeout);
				ended();
				session.destroy();
				reject(new HostUnreachable(this.host, why));
			};
			const timeout = setTimeout(() => end('it does not answer'), this.options.connectTimeoutMs);
			session.on('remoteSettings', ({ maxConcurrentStreams }) => {
				clearTimeout(timeout);
				this.allow(maxConcurrentStreams);
				resolve({ session, drop: () => end('it answers no request') });
			});
			// Open requests may still be answered; new ones need another connection.
			session.on('goaway', ended);
			session.on('error', (error) => end(error.message));
			session.on('close', () => end('it closed the connection'));
		});
	}

	private allow(streams: number | undefined): void {
		this.allowed = Math.max(1, Math.min(streams ?? Number.POSITIVE_INFINITY, this.options.maxStreams));
		for (const resume of this.waiting.splice(0, this.allowed)) resume();
	}

	/** Null: the connection ended, the stream was reset, or time ran out before the whole answer arrived. */
	private exchange(
		{ session, drop }: Connection,
		path: string,
		headers: Readonly<Record<string, string>>,
		body: string | Uint8Array,
	): Promise<HostAnswer | null> {
		if (session.closed || session.destroyed) return Promise.resolve(null);
		return new Promise((resolve, reject) => {
			let request: ClientHttp2Stream;
			try {
				request = session.request({ ':method': 'POST', ':path': path, ...headers });
			} catch (error) {
				// Either the connection has just ended, or the request has an invalid header.
				if (session.closed || session.destroyed) return resolve(null);
				return reject(new RequestRejected(this.host, (error as Error).message));
			}
			let head: HostAnswer['headers'] | null = null;
			let text = '';
			request.setEncoding('utf8');
			request.on('response', (received) => {
				head = received as HostAnswer['headers'];
			});
			request.on('data', (chunk: string) => {
				text += chunk;
			});
			const sentAt = performance.now();
			const timeout = setTimeout(() => {
				request.close(constants.NGHTTP2_CANCEL);
				// If the network drops packets, the connection stays open until TCP gives up, which takes minutes.
				if (this.answeredAt <= sentAt) drop();
			}, this.options.answerTimeoutMs);
			// `close` follows every error and reports it.
			request.on('error', () => undefined);
			request.on('close', () => {
				clearTimeout(timeout);
				const whole = head !== null && request.rstCode === constants.NGHTTP2_NO_ERROR;
				resolve(whole && head ? { status: Number(head[':status']), headers: head, body: text } : null);
			});
			request.end(body);
		});
	}
}
