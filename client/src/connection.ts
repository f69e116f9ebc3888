import type { Api } from './api.ts';
import { backoffMs } from './backoff.ts';
import { afterClose, type NextStep, reasonOf } from './close-codes.ts';
import { ApiError, codeOf, isTokenRejected } from './errors.ts';
import type { Platform } from './platform.ts';
import { Progress } from './progress.ts';
import type { WebSocketLike } from './public.ts';
import type { Connection, ConnectionStatus } from './types.ts';
import type { Wire } from './wire.ts';

/**
 * Keeps the client connected: loads a snapshot the first time, later resumes from the last position, and waits longer
 * after each failure.
 *
 *     idle ──connect──▶ connecting ──caught up──▶ online
 *                         ▲    │ failed             │ closed
 *                         └─ waiting ◀──────────────┘        stopped: rejected for good, or signed out
 *
 * Only `become` changes the status. Each attempt has a number; anything that still arrives from an abandoned attempt
 * is ignored.
 */

export interface ConnectionParts {
	readonly api: Api;
	readonly platform: Platform;
	/**
	 * Reloads everything, and returns the position of the loaded state. `isCurrent`: false once the attempt is
	 * abandoned.
	 */
	readonly load: (isCurrent: () => boolean) => Promise<string>;
	readonly welcome: (answer: Wire) => void;
	readonly receive: (event: Wire) => void;
	readonly changed: () => void;
	/** All missed events have arrived, and frames can be sent. */
	readonly online: (isFirstAttempt: boolean) => void;
	/** Whether the window has the user's attention. */
	readonly isAttentive: () => boolean;
}

/** Silence after which the client probes the connection: sooner while the window has the user's attention. */
const QUIET_MS = 20_000;
const QUIET_ATTENTIVE_MS = 4_000;
/** A healthy server answers a ping within this time. */
const PONG_TIMEOUT_MS = 5_000;
/** Time limit for the request of a ticket: on a network that loses packets, another request may get through. */
const TICKET_TIMEOUT_MS = 10_000;
/** Time limit for `hello`, and for each missed event: all of them together may take longer on a slow network. */
const CATCH_UP_TIMEOUT_MS = 20_000;
/** After a connection that lasted this long, the backoff starts over. */
const STABLE_MS = 10_000;

interface Waiter {
	resolve(): void;
	reject(error: Error): void;
}

export class SocketConnection {
	state: Connection = { status: 'idle', reason: null, retryAt: null };
	private readonly progress = new Progress();
	private socket: WebSocketLike | undefined;
	private timer: unknown;
	/** Number of the current attempt. */
	private current = 0;
	private failures = 0;
	private onlineSince = 0;
	private receivedAt = 0;
	/** The client has sent a ping, and nothing has arrived since. */
	private isProbing = false;
	private nextId = 100;
	private readonly pongs = new Map<number, Waiter>();
	/** Callers that wait until the client is online. */
	private onlineWaiters: Waiter[] = [];

	constructor(private readonly parts: ConnectionParts) {}

	connect(): Promise<void> {
		const { status } = this.state;
		if (status !== 'online' && status !== 'connecting') this.begin();
		return this.whenOnline();
	}

	/** Rejects if the client will not connect. */
	whenOnline(): Promise<void> {
		const { status, reason } = this.state;
		if (status === 'online') return Promise.resolve();
		const done = new Promise<void>((resolve, reject) => {
			if (status === 'idle' || status === 'stopped')
				reject(new ApiError(reason ?? 'disconnected', 'connect'));
			else this.onlineWaiters.push({ resolve, reject });
		});
		// The snapshot shows the outcome to callers that do not await this promise.
		done.catch(() => undefined);
		return done;
	}

	disconnect(): void {
		this.end();
		this.become('idle');
		this.settle(new ApiError('disconnected', 'connect'));
	}

	/** Retries now instead of later. Abandons an attempt that is still connecting. */
	wake(): void {
		if (this.state.status === 'waiting' || this.state.status === 'connecting') this.begin();
	}

	/** The machine reports that it has no network. */
	offline(): void {
		if (this.state.status === 'online') this.closed(1006);
	}

	/** The user's attention returned: probes the connection if it has been quiet. */
	attentionReturned(): void {
		if (this.state.status === 'online' && this.quietFor() > QUIET_ATTENTIVE_MS) this.probe();
	}

	/** The known state is unreliable: reload everything. */
	resync(): void {
		this.progress.forget();
		// If there is no connection, the next one starts with a reload.
		if (this.state.status === 'online' || this.state.status === 'connecting') this.retry('resync');
	}

	/** Returns false if there is no connection. */
	send(frame: Wire): boolean {
		if (this.state.status !== 'online' || !this.socket) return false;
		this.nextId += 1;
		this.socket.send(JSON.stringify({ id: this.nextId, ...frame }));
		return true;
	}

	/** Resolves when the server has answered: by then, everything that it sent earlier has arrived. */
	ping(): Promise<void> {
		return new Promise((resolve, reject) => {
			if (!this.send({ type: 'ping' })) reject(new ApiError('disconnected', 'ping'));
			else this.pongs.set(this.nextId, { resolve, reject });
		});
	}

	private begin(): void {
		this.end();
		this.become('connecting');
		const mine = this.current;
		this.open(() => mine === this.current).catch((error) => {
			if (mine === this.current) this.failed(error);
		});
	}

	private async open(isCurrent: () => boolean): Promise<void> {
		const { api, platform, load, welcome } = this.parts;
		if (this.progress.position === '') {
			const position = await load(isCurrent);
			if (!isCurrent()) return;
			this.progress.begin(position);
		}
		this.after(TICKET_TIMEOUT_MS, () => this.closed(1006));
		const answer = await api.callOnce('rtm.connect', { counts: true, since: this.progress.since });
		if (!isCurrent()) return;
		welcome(answer);
		const socket: WebSocketLike = new platform.WebSocket(answer.url);
		this.socket = socket;
		socket.onmessage = ({ data }) => {
			if (isCurrent()) this.receive(JSON.parse(String(data)));
		};
		socket.onclose = ({ code }) => {
			if (isCurrent()) this.closed(code);
		};
		// `onclose` reports the failure.
		socket.onerror = () => undefined;
		this.awaitFrame();
	}

	private awaitFrame(): void {
		this.after(CATCH_UP_TIMEOUT_MS, () => this.closed(1006));
	}

	private receive(event: Wire): void {
		this.receivedAt = this.parts.platform.now();
		if (this.isProbing) this.watch();
		if (this.state.status === 'connecting') this.awaitFrame();
		if (event.type === 'hello') this.hello(event);
		else if (event.type === 'resync') this.resync();
		else if (event.reply_to !== undefined) this.pong(event.reply_to);
		else {
			const mine = this.current;
			this.parts.receive(event);
			// Handling the event may have started a reload, which abandons this attempt.
			if (mine !== this.current) return;
			this.progress.handled(event.position);
			if (this.state.status === 'connecting' && this.progress.isCaughtUp) this.becomeOnline();
		}
	}

	private hello({ position, missed }: Wire): void {
		// The server cannot resume from the position; a resync frame follows.
		if (missed === undefined) {
			this.resync();
			return;
		}
		this.progress.hello(position, missed);
		if (missed === 0) this.becomeOnline();
	}

	private becomeOnline(): void {
		this.onlineSince = this.parts.platform.now();
		this.become('online');
		this.watch();
		this.settle();
		this.parts.online(this.current === 1);
	}

	/** Detects connections that the operating system considers open but that deliver nothing. */
	private watch(): void {
		this.isProbing = false;
		const wait = (this.parts.isAttentive() ? QUIET_ATTENTIVE_MS : QUIET_MS) - this.quietFor();
		if (wait <= 0) this.probe();
		// Check in shorter steps, because the user's attention may return meanwhile.
		else this.after(Math.min(wait, QUIET_ATTENTIVE_MS), () => this.watch());
	}

	private probe(): void {
		this.isProbing = true;
		this.send({ type: 'ping' });
		this.after(PONG_TIMEOUT_MS, () => this.closed(1006));
	}

	private quietFor(): number {
		return this.parts.platform.now() - this.receivedAt;
	}

	private pong(id: number): void {
		this.pongs.get(id)?.resolve();
		this.pongs.delete(id);
	}

	private failed(error: unknown): void {
		const code = codeOf(error);
		if (isTokenRejected(code)) this.stop(code);
		else this.retry('resume', error instanceof ApiError ? error.retryAfterMs : 0);
	}

	private closed(code: number): void {
		const next = afterClose(code);
		if (next === 'stop') this.stop(reasonOf(code));
		else this.retry(next);
	}

	private retry(next: NextStep, atLeastMs = 0): void {
		const { platform, api } = this.parts;
		if (next === 'resync') this.progress.forget();
		if (next === 'new_token') api.forgetToken();
		const isStable = this.state.status === 'online' && platform.now() - this.onlineSince >= STABLE_MS;
		this.failures = isStable ? 0 : this.failures + 1;
		this.end();
		const wait = atLeastMs + backoffMs(this.failures, platform.random);
		this.become('waiting', null, platform.now() + wait);
		this.after(wait, () => this.begin());
	}

	private stop(reason: string): void {
		this.end();
		this.become('stopped', reason);
		this.settle(new ApiError(reason, 'connect'));
	}

	/** Ends the current attempt or connection. */
	private end(): void {
		this.isProbing = false;
		this.current += 1;
		this.parts.platform.timers.clear(this.timer);
		const { socket } = this;
		this.socket = undefined;
		socket?.close();
		for (const { reject } of this.pongs.values()) reject(new ApiError('disconnected', 'ping'));
		this.pongs.clear();
	}

	private after(ms: number, then: () => void): void {
		const { timers } = this.parts.platform;
		timers.clear(this.timer);
		this.timer = timers.set(then, ms);
	}

	private become(
		status: ConnectionStatus,
		reason: string | null = null,
		retryAt: number | null = null,
	): void {
		this.state = { status, reason, retryAt };
		this.parts.changed();
	}

	private settle(error?: Error): void {
		for (const { resolve, reject } of this.onlineWaiters.splice(0)) error ? reject(error) : resolve();
	}
}
