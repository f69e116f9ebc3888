import type { Device, PushPlatform } from '../engine/ports/push.ts';
import { backOffMs } from './backoff.ts';
import type { PushOutcome, PushProvider } from './provider.ts';

/**
 * The configured providers and their availability, as a whole or for each endpoint. An unavailable provider is paused,
 * longer after each failure, and reported to the watch.
 *
 *     available   → unavailable  after an outcome `unavailable`, or a failed check
 *     unavailable → available    after any other outcome; an endpoint also after a long time without notifications
 */

export interface ProviderWatch {
	degraded(platform: PushPlatform, error: Error): void;
	recovered(platform: PushPlatform): void;
}

/** An outage of a provider or of one of its endpoints. */
interface Outage {
	/** Consecutive failures. */
	failures: number;
	pausedUntil: number;
}

interface WatchedProvider {
	readonly provider: PushProvider;
	/** By endpoint; a provider with a single endpoint uses the empty name. */
	readonly outages: Map<string, Outage>;
	/** A notification to it was attempted, or its check failed. */
	isUsed: boolean;
}

const MAX_PAUSE_MS = 60_000;
/** Waiting notifications are retried after every pause: an endpoint without attempts for this long has none waiting. */
const FORGET_AFTER_MS = 5 * 60_000;

export class Providers {
	private readonly providers = new Map<PushPlatform, WatchedProvider>();

	constructor(
		providers: Partial<Record<PushPlatform, PushProvider>>,
		private readonly watch: ProviderWatch,
		private readonly nowMs: () => number,
		private readonly random: () => number,
	) {
		for (const [platform, provider] of Object.entries(providers))
			this.providers.set(platform as PushPlatform, { provider, outages: new Map(), isUsed: false });
	}

	provider(platform: PushPlatform): PushProvider | undefined {
		return this.providers.get(platform)?.provider;
	}

	/** When the pause ends; 0: the endpoint is not paused. */
	pausedUntil(device: Device): number {
		const watched = this.providers.get(device.platform);
		return watched && watched.outages.size > 0 ? this.pauseOf(watched, endpointOf(watched, device)) : 0;
	}

	/**
	 * Whether every provider in use is paused as a whole. Unused providers are never paused, so they do not count: otherwise notifications
	 * that wait for a paused provider would be taken and postponed again and again.
	 */
	allPaused(): boolean {
		const used = [...this.providers.values()].filter(({ isUsed }) => isUsed);
		return used.length > 0 && used.every((watched) => this.pauseOf(watched, '') > 0);
	}

	recordOutcome(device: Device, outcome: PushOutcome): void {
		const watched = this.providers.get(device.platform);
		if (watched) this.recordAt(device.platform, watched, endpointOf(watched, device), outcome);
	}

	/** Run at the start, to report a wrong key before the first notification. */
	async check(): Promise<void> {
		for (const [platform, watched] of this.providers) {
			const error = await watched.provider.check();
			if (error !== null) this.recordAt(platform, watched, '', { type: 'unavailable', error: error });
		}
	}

	/** Forgets outages of endpoints without waiting notifications. */
	forget(): void {
		for (const [platform, watched] of this.providers)
			for (const [endpoint, { pausedUntil }] of watched.outages)
				if (endpoint !== '' && pausedUntil + FORGET_AFTER_MS < this.nowMs())
					this.recover(platform, watched, endpoint);
	}

	close(): void {
		for (const { provider } of this.providers.values()) provider.close();
	}

	private recordAt(
		platform: PushPlatform,
		watched: WatchedProvider,
		endpoint: string,
		outcome: PushOutcome,
	): void {
		watched.isUsed = true;
		if (outcome.type !== 'unavailable') {
			if (watched.outages.has(endpoint)) this.recover(platform, watched, endpoint);
			return;
		}
		// Of several failed notifications in flight, only the first counts.
		if (this.pauseOf(watched, endpoint) > 0) return;
		const failures = (watched.outages.get(endpoint)?.failures ?? 0) + 1;
		const pause = Math.min(MAX_PAUSE_MS, backOffMs(failures, this.random));
		const pausedUntil = this.nowMs() + Math.max(pause, outcome.retryAfterMs ?? 0);
		watched.outages.set(endpoint, { failures, pausedUntil });
		this.watch.degraded(platform, new Error(outcome.error));
	}

	private recover(platform: PushPlatform, watched: WatchedProvider, endpoint: string): void {
		watched.outages.delete(endpoint);
		if (watched.outages.size === 0) this.watch.recovered(platform);
	}

	private pauseOf(watched: WatchedProvider, endpoint: string): number {
		const until = watched.outages.get(endpoint)?.pausedUntil ?? 0;
		return until > this.nowMs() ? until : 0;
	}
}

const endpointOf = ({ provider }: WatchedProvider, device: Device): string =>
	provider.endpointOf?.(device) ?? '';
