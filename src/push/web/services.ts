import type { CachedToken } from '../cached-token.ts';
import { type HostAnswer, HostUnreachable, Http2Host } from '../http2-host.ts';
import { postOverHttp1 } from './http1.ts';
import { type VapidIdentity, vapidToken } from './vapid.ts';

/**
 * The push services in use: one connection each, closed when idle. Their number is bounded, because subscriptions
 * choose them.
 */

export class PushService {
	readonly token: CachedToken;
	private readonly host: Http2Host;
	private isWithoutHttp2 = false;
	/** Requests in flight. */
	inUse = 0;
	usedAt = 0;
	/** When it last accepted a message. */
	acceptedAt = Number.NEGATIVE_INFINITY;

	constructor(
		private readonly origin: string,
		identity: VapidIdentity,
		nowMs: () => number,
	) {
		this.host = new Http2Host({ url: origin, maxStreams: 100 });
		this.token = vapidToken(origin, identity, nowMs);
	}

	async post(
		path: string,
		headers: Readonly<Record<string, string>>,
		body: Uint8Array<ArrayBuffer>,
	): Promise<HostAnswer> {
		if (!this.isWithoutHttp2)
			try {
				return await this.host.post(path, headers, body);
			} catch (error) {
				if (!(error instanceof HostUnreachable && error.isWithoutHttp2)) throw error;
				this.isWithoutHttp2 = true;
			}
		return postOverHttp1(this.origin + path, headers, body);
	}

	close(): void {
		this.host.close();
	}
}

export const MAX_SERVICES = 32;
const IDLE_MS = 60_000;

export class PushServices {
	private readonly services = new Map<string, PushService>();
	private readonly sweeping: ReturnType<typeof setInterval>;

	constructor(
		private readonly identity: VapidIdentity,
		private readonly nowMs: () => number,
	) {
		this.sweeping = setInterval(() => this.sweep(IDLE_MS), IDLE_MS / 2);
		this.sweeping.unref();
	}

	get size(): number {
		return this.services.size;
	}

	/** Null: the maximum number of services is in use. */
	async use<T>(origin: string, work: (service: PushService) => Promise<T>): Promise<T | null> {
		const service = this.services.get(origin) ?? this.open(origin);
		if (!service) return null;
		service.inUse += 1;
		try {
			return await work(service);
		} finally {
			service.inUse -= 1;
			service.usedAt = this.nowMs();
		}
	}

	close(): void {
		clearInterval(this.sweeping);
		for (const service of this.services.values()) service.close();
		this.services.clear();
	}

	private open(origin: string): PushService | null {
		if (this.services.size >= MAX_SERVICES) this.sweep(0);
		if (this.services.size >= MAX_SERVICES) return null;
		const service = new PushService(origin, this.identity, this.nowMs);
		this.services.set(origin, service);
		return service;
	}

	private sweep(idleMs: number): void {
		for (const [origin, service] of this.services) {
			if (service.inUse > 0 || this.nowMs() - service.usedAt < idleMs) continue;
			service.close();
			this.services.delete(origin);
		}
	}
}
