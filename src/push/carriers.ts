import type { PushPlatform } from '../engine/ports/push.ts';
import { backOffMs } from './backoff.ts';
import type { Outcome, PushProvider } from './provider.ts';

/**
 * The providers that are configured, and whether each can be used. One that is away is left alone for a while, longer
 * every time, and whoever operates the server is told once.
 *
 *     up    → away   with an outcome `away`, or a check that fails
 *     away  → up     with any other outcome
 */

export interface CarrierWatch {
	degraded(platform: PushPlatform, error: Error): void;
	recovered(platform: PushPlatform): void;
}

interface Carrier {
	readonly provider: PushProvider;
	/** Failures since it was last up. */
	failures: number;
	pausedUntil: number;
}

const LONGEST_PAUSE_MS = 60_000;

export class Carriers {
	private readonly carriers = new Map<PushPlatform, Carrier>();

	constructor(
		providers: Partial<Record<PushPlatform, PushProvider>>,
		private readonly watch: CarrierWatch,
		private readonly nowMs: () => number,
		private readonly random: () => number,
	) {
		for (const [platform, provider] of Object.entries(providers))
			this.carriers.set(platform as PushPlatform, { provider, failures: 0, pausedUntil: 0 });
	}

	provider(platform: PushPlatform): PushProvider | undefined {
		return this.carriers.get(platform)?.provider;
	}

	/** Until when nothing is to be sent there; 0: it may be. */
	pausedUntil(platform: PushPlatform): number {
		const until = this.carriers.get(platform)?.pausedUntil ?? 0;
		return until > this.nowMs() ? until : 0;
	}

	/** Nothing can be sent anywhere, for the moment. */
	allPaused(): boolean {
		return [...this.carriers.keys()].every((platform) => this.pausedUntil(platform) > 0);
	}

	note(platform: PushPlatform, outcome: Outcome): void {
		const carrier = this.carriers.get(platform);
		if (!carrier) return;
		if (outcome.type !== 'away') {
			if (carrier.failures === 0) return;
			carrier.failures = 0;
			carrier.pausedUntil = 0;
			this.watch.recovered(platform);
			return;
		}
		// Of many that were under way together, one counts.
		if (this.pausedUntil(platform) > 0) return;
		carrier.failures += 1;
		const pause = Math.min(LONGEST_PAUSE_MS, backOffMs(carrier.failures, this.random));
		carrier.pausedUntil = this.nowMs() + Math.max(pause, outcome.retryAfterMs ?? 0);
		this.watch.degraded(platform, new Error(outcome.error));
	}

	/** At the start, so that a wrong key is told before there is something to send. */
	async check(): Promise<void> {
		for (const [platform, { provider }] of this.carriers) {
			const wrong = await provider.check();
			if (wrong !== null) this.note(platform, { type: 'away', error: wrong });
		}
	}

	close(): void {
		for (const { provider } of this.carriers.values()) provider.close();
	}
}
