import type { Device, PushPlatform } from '../engine/ports/push.ts';
import { backOffMs } from './backoff.ts';
import type { Outcome, PushProvider } from './provider.ts';

/**
 * The providers that are configured, and whether each can be used: as a whole, or each of the places it sends to. One
 * that is unavailable is paused for a while, longer every time, and reported once.
 *
 *     up    → away   with an outcome `away`, or a check that fails
 *     away  → up     with any other outcome; a place also when nothing was sent there for long
 */

export interface CarrierWatch {
	degraded(platform: PushPlatform, error: Error): void;
	recovered(platform: PushPlatform): void;
}

/** A push service that is unavailable. */
interface Outage {
	/** Since it was last up. */
	failures: number;
	pausedUntil: number;
}

interface Carrier {
	readonly provider: PushProvider;
	/** By place; a provider that is one place has it under the empty name. */
	readonly outages: Map<string, Outage>;
	/** Something was sent there, or could not be. */
	isUsed: boolean;
}

const LONGEST_PAUSE_MS = 60_000;
/** What waits for a place is tried after every pause: a place that was not is one that nothing waits for. */
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

	/** Until when nothing is to be sent there; 0: it may be. */
	pausedUntil(device: Device): number {
		const carrier = this.carriers.get(device.platform);
		return carrier && carrier.outages.size > 0 ? this.pauseOf(carrier, endpointOf(carrier, device)) : 0;
	}

	/**
	 * Nothing can be sent anywhere, for the moment. One that nobody uses does not count: what waits for the others would be
	 * taken and put back over and over.
	 */
	allPaused(): boolean {
		const used = [...this.carriers.values()].filter(({ isUsed }) => isUsed);
		return used.length > 0 && used.every((carrier) => this.pauseOf(carrier, '') > 0);
	}

	note(device: Device, outcome: Outcome): void {
		const carrier = this.carriers.get(device.platform);
		if (carrier) this.noteAt(device.platform, carrier, endpointOf(carrier, device), outcome);
	}

	/** At the start, so that a wrong key is reported before there is something to send. */
	async check(): Promise<void> {
		for (const [platform, carrier] of this.carriers) {
			const wrong = await carrier.provider.check();
			if (wrong !== null) this.noteAt(platform, carrier, '', { type: 'away', error: wrong });
		}
	}

	/** An unavailable push service that nothing waits for is forgotten. */
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
		if (outcome.type !== 'away') {
			if (carrier.outages.has(endpoint)) this.up(platform, carrier, endpoint);
			return;
		}
		// Of many that were under way together, one counts.
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
