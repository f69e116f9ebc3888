import type { Device, PushPlatform } from '../engine/ports/push.ts';
import { backOffMs } from './backoff.ts';
import type { Outcome, PushProvider } from './provider.ts';

/**
 * The configured providers and their availability, as a whole or for each endpoint. An unavailable one is paused,
 * longer after each failure, and reported once.
 *
 *     available   → unavailable  after an outcome `unavailable`, or a failed check
 *     unavailable → available    after any other outcome; an endpoint also after a long time without sends
 */

export interface CarrierWatch {
	degraded(platform: PushPlatform, error: Error): void;
	recovered(platform: PushPlatform): void;
}

/** An outage of a provider or of one of its endpoints. */
interface Outage {
	/** Consecutive failures. */
	failures: number;
	pausedUntil: number;
}

interface Carrier {
	readonly provider: PushProvider;
	/** By endpoint; a provider with a single endpoint uses the empty name. */
	readonly outages: Map<string, Outage>;
	/** A send was attempted. */
	isUsed: boolean;
}

const LONGEST_PAUSE_MS = 60_000;
/** Waiting sends are retried after every pause: an endpoint without attempts for this long has none waiting. */
const FORGET_AFTER_MS = 5 * 60_000;

export class Carriers {
	private readonly carriers = new Map<PushPlatform, Carrier>();

	constructor(
		providers: Partial<Record<PushPlatform, PushProvider>>,
		private readonly watch: CarrierWatch,
		private readonly nowMs: () => number,
		private readonly random: () => number,
	) {
		for (const [platform, provider] of Object.entries(providers))
			this.carriers.set(platform as PushPlatform, { provider, outages: new Map(), isUsed: false });
	}

	provider(platform: PushPlatform): PushProvider | undefined {
		return this.carriers.get(platform)?.provider;
	}

	/** When the pause ends; 0: the endpoint is not paused. */
	pausedUntil(device: Device): number {
		const carrier = this.carriers.get(device.platform);
		return carrier && carrier.outages.size > 0 ? this.pauseOf(carrier, endpointOf(carrier, device)) : 0;
	}

	/**
	 * Whether every provider in use is paused. Unused providers do not count: otherwise the sends that wait for the
	 * others would be taken and put back repeatedly.
	 */
	allPaused(): boolean {
		const used = [...this.carriers.values()].filter(({ isUsed }) => isUsed);
		return used.length > 0 && used.every((carrier) => this.pauseOf(carrier, '') > 0);
	}

	note(device: Device, outcome: Outcome): void {
		const carrier = this.carriers.get(device.platform);
		if (carrier) this.noteAt(device.platform, carrier, endpointOf(carrier, device), outcome);
	}

	/** Run at the start, to report a wrong key before the first notification. */
	async check(): Promise<void> {
		for (const [platform, carrier] of this.carriers) {
			const wrong = await carrier.provider.check();
			if (wrong !== null) this.noteAt(platform, carrier, '', { type: 'unavailable', error: wrong });
		}
	}

	/** Forgets outages of endpoints that nothing waits for. */
	forget(): void {
		for (const [platform, carrier] of this.carriers)
			for (const [endpoint, { pausedUntil }] of carrier.outages)
				if (endpoint !== '' && pausedUntil + FORGET_AFTER_MS < this.nowMs())
					this.up(platform, carrier, endpoint);
	}

	close(): void {
		for (const { provider } of this.carriers.values()) provider.close();
	}

	private noteAt(platform: PushPlatform, carrier: Carrier, endpoint: string, outcome: Outcome): void {
		carrier.isUsed = true;
		if (outcome.type !== 'unavailable') {
			if (carrier.outages.has(endpoint)) this.up(platform, carrier, endpoint);
			return;
		}
		// Of several failed sends in flight, only the first counts.
		if (this.pauseOf(carrier, endpoint) > 0) return;
		const failures = (carrier.outages.get(endpoint)?.failures ?? 0) + 1;
		const pause = Math.min(LONGEST_PAUSE_MS, backOffMs(failures, this.random));
		const pausedUntil = this.nowMs() + Math.max(pause, outcome.retryAfterMs ?? 0);
		carrier.outages.set(endpoint, { failures, pausedUntil });
		this.watch.degraded(platform, new Error(outcome.error));
	}

	private up(platform: PushPlatform, carrier: Carrier, endpoint: string): void {
		carrier.outages.delete(endpoint);
		if (carrier.outages.size === 0) this.watch.recovered(platform);
	}

	private pauseOf(carrier: Carrier, endpoint: string): number {
		const until = carrier.outages.get(endpoint)?.pausedUntil ?? 0;
		return until > this.nowMs() ? until : 0;
	}
}

const endpointOf = ({ provider }: Carrier, device: Device): string => provider.endpointOf?.(device) ?? '';
