import { eventCallback } from '../../apps/payloads.ts';
import type { Transport } from '../../apps/transport.ts';
import type { Apps } from '../../engine/ports/apps.ts';
import type { Admission } from '../../engine/ports/tickets.ts';
import type { Socket } from '../socket/connection.ts';
import { AppSocket, type Envelope, type EnvelopeResult } from './app-socket.ts';

/**
 * The Socket Mode connections at this gateway. An envelope goes to the app's socket with the fewest unacknowledged
 * envelopes. If that socket closes before the acknowledgement, the caller sends the envelope again.
 */

export interface AppSocketsParts {
	readonly apps: Pick<
		Apps,
		'app' | 'token' | 'socketOpened' | 'socketClosed' | 'keepSockets' | 'removeSockets'
	>;
	readonly gateway: string;
	readonly nowMs: () => number;
	readonly newId: () => string;
	/** Called when an app opened or closed a socket here. */
	readonly changed: (app: string) => void;
	readonly report: (error: unknown) => void;
	readonly ackTimeoutMs?: number;
}

const MAX_SOCKETS = 10;
const ACK_TIMEOUT_MS = 5_000;
const MAX_EVENTS_IN_FLIGHT = 100;
const CHECK_EVERY_MS = 10_000;
/** After this many checks without a frame or pong, the socket is closed. */
const MAX_SILENT_CHECKS = 3;
/** How long the rows of a killed gateway stay in the store. */
const ROW_LIFETIME_MS = 35_000;
const DRAIN_MS = 200;

export class AppSockets {
	private readonly sockets = new Map<string, AppSocket[]>();
	private readonly timer: ReturnType<typeof setInterval>;

	constructor(private readonly parts: AppSocketsParts) {
		this.timer = setInterval(() => this.check(), CHECK_EVERY_MS);
		this.timer.unref?.();
	}

	get size(): number {
		return [...this.sockets.values()].reduce((sum, { length }) => sum + length, 0);
	}

	/** Removes rows that an earlier run of this process, or a killed gateway, left behind. */
	forgetStaleRows(): Promise<void> {
		return this.parts.apps.removeSockets(this.parts.gateway, this.parts.nowMs());
	}

	isOpen(app: string): boolean {
		return this.sockets.get(app)?.some(({ isOpen }) => isOpen) ?? false;
	}

	/** Admits a socket and counts it; `hello` follows. */
	open(socket: Socket, { app = '', tokenKey, origin = '' }: Admission): AppSocket {
		const opened = new AppSocket(this.parts.newId(), app, tokenKey, socket, this.parts.newId, origin);
		this.admit(opened).catch((error) => {
			this.parts.report(error);
			opened.close();
		});
		return opened;
	}

	private async admit(socket: AppSocket): Promise<void> {
		const { apps, gateway, nowMs } = this.parts;
		const { id, app, tokenKey } = socket;
		const count = await apps.socketOpened({ id, app, gateway }, nowMs(), nowMs() + ROW_LIFETIME_MS);
		const [known, token] = await Promise.all([apps.app(app), apps.token(tokenKey)]);
		const reason =
			!known || !token || token.revokedTs > 0
				? 'link_disabled'
				: count > MAX_SOCKETS
					? 'too_many_websockets'
					: null;
		if (reason !== null || !socket.isOpen) {
			if (reason !== null) socket.disconnect(reason, gateway);
			socket.close();
			await apps.socketClosed(id);
			return;
		}
		socket.hello(count, gateway);
		this.sockets.set(app, [...(this.sockets.get(app) ?? []), socket]);
		this.parts.changed(app);
	}

	closed(socket: AppSocket): void {
		socket.closed();
		const { app, id } = socket;
		const open = this.sockets.get(app);
		this.parts.apps.socketClosed(id).catch(this.parts.report);
		if (!open?.includes(socket)) return;
		const left = open.filter((one) => one !== socket);
		if (left.length > 0) this.sockets.set(app, left);
		else this.sockets.delete(app);
		this.parts.changed(app);
	}

	/** Closes the sockets that were opened with this token; null: all sockets of the app. */
	disable(app: string, tokenKey: string | null): void {
		for (const socket of this.sockets.get(app) ?? []) {
			if (tokenKey !== null && socket.tokenKey !== tokenKey) continue;
			socket.disconnect('link_disabled', this.parts.gateway);
			socket.close();
		}
	}

	/** Sends over one of the app's sockets at this gateway. */
	async send(app: string, envelope: Envelope, withinMs: number): Promise<EnvelopeResult> {
		const open = this.sockets.get(app)?.filter(({ isOpen }) => isOpen) ?? [];
		const [first, ...others] = open;
		if (!first) return { type: 'disconnected' };
		const leastLoaded = others.reduce((best, one) => (one.load < best.load ? one : best), first);
		// Moves the socket to the end, so that sockets with equal load take turns.
		this.sockets.set(app, [
			...(this.sockets.get(app) ?? []).filter((one) => one !== leastLoaded),
			leastLoaded,
		]);
		return leastLoaded.send(envelope, withinMs);
	}

	transport(app: string): Transport {
		const { ackTimeoutMs = ACK_TIMEOUT_MS } = this.parts;
		return {
			isOpen: () => this.isOpen(app),
			maxInFlight: MAX_EVENTS_IN_FLIGHT,
			pausesFailingApps: false,
			deliver: async (to, delivery) => {
				const { attempts, reason } = delivery;
				const envelope = {
					type: 'events_api',
					payload: eventCallback(to, delivery),
					accepts_response_payload: false,
					retry_attempt: attempts,
					retry_reason: reason,
				} as const;
				const { type } = await this.send(app, envelope, ackTimeoutMs);
				if (type !== 'timeout') return { type };
				return { type: 'failed', reason: 'timeout', detail: 'the app did not acknowledge in time' };
			},
		};
	}

	/** Asks clients to connect to another gateway, before `stop` closes their sockets. */
	announceStop(): void {
		for (const socket of this.all()) socket.disconnect('warning', this.parts.gateway);
	}

	async stop(): Promise<void> {
		clearInterval(this.timer);
		for (const socket of this.all()) socket.disconnect('refresh_requested', this.parts.gateway);
		await new Promise((resolve) => setTimeout(resolve, this.size > 0 ? DRAIN_MS : 0));
		for (const socket of this.all()) {
			socket.close();
			this.closed(socket);
		}
	}

	private all(): AppSocket[] {
		return [...this.sockets.values()].flat();
	}

	private check(): void {
		const { apps, gateway, nowMs, report } = this.parts;
		if (this.size === 0) return;
		apps.keepSockets(gateway, nowMs() + ROW_LIFETIME_MS).catch(report);
		for (const socket of this.all()) {
			socket.silentChecks += 1;
			if (socket.silentChecks > MAX_SILENT_CHECKS) socket.close();
			else socket.ping();
		}
	}
}
