import { eventCallback } from '../../apps/payloads.ts';
import type { Transport } from '../../apps/transport.ts';
import type { Apps } from '../../engine/ports/apps.ts';
import type { Admission } from '../../engine/ports/tickets.ts';
import type { Socket } from '../socket/connection.ts';
import { type Acknowledgement, AppSocket, type Envelope } from './app-socket.ts';

/**
 * The Socket Mode connections at this gateway. An envelope goes to one of an app's sockets, the one with the fewest
 * envelopes that are not acknowledged; when that socket closes, to the next.
 */

export interface AppSocketsParts {
	readonly apps: Pick<
		Apps,
		'app' | 'token' | 'socketOpened' | 'socketClosed' | 'keepSockets' | 'forgetSockets'
	>;
	readonly gateway: string;
	readonly nowMs: () => number;
	readonly newId: () => string;
	/** An app has its first socket here, one more, or lost one. */
	readonly changed: (app: string, isLast: boolean) => void;
	readonly report: (error: unknown) => void;
	readonly ackWithinMs?: number;
}

const MOST_SOCKETS = 10;
const ACK_WITHIN_MS = 5_000;
const EVENTS_AT_ONCE = 100;
const LOOK_EVERY_MS = 10_000;
/** Silent for so many looks: pings were not answered. */
const SILENT_LOOKS = 3;
/** A gateway that was killed leaves its rows behind for so long. */
const KEPT_MS = 35_000;
const DRAIN_MS = 200;

export class AppSockets {
	private readonly sockets = new Map<string, AppSocket[]>();
	private readonly timer: ReturnType<typeof setInterval>;

	constructor(private readonly parts: AppSocketsParts) {
		this.timer = setInterval(() => this.look(), LOOK_EVERY_MS);
		this.timer.unref?.();
	}

	get size(): number {
		return [...this.sockets.values()].reduce((sum, { length }) => sum + length, 0);
	}

	/** Of this process before, or of ones that were killed. */
	forget(): Promise<void> {
		return this.parts.apps.forgetSockets(this.parts.gateway, this.parts.nowMs());
	}

	isOpen(app: string): boolean {
		return this.sockets.get(app)?.some(({ isOpen }) => isOpen) ?? false;
	}

	/** Takes a socket in: hello follows when it is counted. */
	open(socket: Socket, { app = '', tokenHash, origin = '' }: Admission): AppSocket {
		const opened = new AppSocket(this.parts.newId(), app, tokenHash, socket, this.parts.newId, origin);
		this.admit(opened).catch((error) => {
			this.parts.report(error);
			opened.close();
		});
		return opened;
	}

	private async admit(socket: AppSocket): Promise<void> {
		const { apps, gateway, nowMs } = this.parts;
		const { id, app, tokenHash } = socket;
		const count = await apps.socketOpened({ id, app, gateway }, nowMs(), nowMs() + KEPT_MS);
		const [known, token] = await Promise.all([apps.app(app), apps.token(tokenHash)]);
		const reason =
			!known || !token || token.revokedTs > 0
				? 'link_disabled'
				: count > MOST_SOCKETS
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
		this.parts.changed(app, false);
	}

	closed(socket: AppSocket): void {
		socket.closed();
		const { app, id } = socket;
		const others = this.sockets.get(app);
		this.parts.apps.socketClosed(id).catch(this.parts.report);
		if (!others?.includes(socket)) return;
		const left = others.filter((one) => one !== socket);
		if (left.length > 0) this.sockets.set(app, left);
		else this.sockets.delete(app);
		this.parts.changed(app, left.length === 0);
	}

	/** Sockets that were opened with this token, or all of the app. */
	disable(app: string, tokenHash: string | null): void {
		for (const socket of this.sockets.get(app) ?? []) {
			if (tokenHash !== null && socket.tokenHash !== tokenHash) continue;
			socket.disconnect('link_disabled', this.parts.gateway);
			socket.close();
		}
	}

	/** Over one of the app's sockets here. */
	async send(app: string, envelope: Envelope, withinMs: number): Promise<Acknowledgement> {
		const open = this.sockets.get(app)?.filter(({ isOpen }) => isOpen) ?? [];
		const [first, ...others] = open;
		if (!first) return { type: 'cut_off' };
		const least = others.reduce((best, one) => (one.load < best.load ? one : best), first);
		// The one that was used last goes to the end: equals take turns.
		this.sockets.set(app, [...(this.sockets.get(app) ?? []).filter((one) => one !== least), least]);
		return least.send(envelope, withinMs);
	}

	transport(app: string): Transport {
		const { ackWithinMs = ACK_WITHIN_MS } = this.parts;
		return {
			isOpen: () => this.isOpen(app),
			atOnce: EVENTS_AT_ONCE,
			deliver: async (to, delivery) => {
				const { attempts, reason } = delivery;
				const envelope = {
					type: 'events_api',
					payload: eventCallback(to, delivery),
					accepts_response_payload: false,
					retry_attempt: attempts,
					retry_reason: reason,
				} as const;
				const { type } = await this.send(app, envelope, ackWithinMs);
				if (type !== 'timeout') return { type };
				return { type: 'failed', reason: 'timeout', detail: 'the app did not acknowledge in time' };
			},
		};
	}

	/** Says so first: clients connect again, to another gateway where there is one. */
	warn(): void {
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

	private look(): void {
		const { apps, gateway, nowMs, report } = this.parts;
		if (this.size === 0) return;
		apps.keepSockets(gateway, nowMs() + KEPT_MS).catch(report);
		for (const socket of this.all()) {
			socket.silentLooks += 1;
			if (socket.silentLooks > SILENT_LOOKS) socket.close();
			else socket.ping();
		}
	}
}
