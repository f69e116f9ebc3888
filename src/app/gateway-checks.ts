import type { Verifier } from '../durability/verifier.ts';
import type { Authenticator } from '../gateway/auth/authenticator.ts';
import type { TokenUses } from '../gateway/auth/token-uses.ts';
import type { Hub } from '../gateway/socket/hub.ts';
import type { Presence } from '../gateway/socket/presence.ts';
import { PeriodicJob } from '../model/periodic-job.ts';

/** What a gateway repeats in the background. Each check has its own interval, so one that is slow delays no other. */

export interface GatewayCheckParts {
	readonly auth: Pick<Authenticator, 'sweep'>;
	readonly presence: Pick<Presence, 'settle'>;
	readonly tokenUses: Pick<TokenUses, 'flush'>;
	readonly hub: Pick<Hub, 'connections'>;
	readonly verifier: Pick<Verifier, 'verifySome'>;
	readonly failed: (about: string, error: unknown) => void;
}

const EVERY_MS = 30_000;
const CHECKED_AT_ONCE = 5;

export function startChecks(parts: GatewayCheckParts, everyMs = EVERY_MS): { stop(): void } {
	const { auth, presence, tokenUses } = parts;
	const repeat = (about: string, check: () => Promise<void>): PeriodicJob =>
		new PeriodicJob(everyMs, check, (error) => parts.failed(about, error));
	const jobs = [
		repeat('sweeping tokens', async () => auth.sweep()),
		repeat('updating presence', () => presence.settle()),
		repeat('recording when tokens were used', () => tokenUses.flush()),
		repeat('checking counts', () => verifySomeCounts(parts)),
	];
	return {
		/** Does not wait for running checks, because a service may not answer. */
		stop: () => {
			for (const job of jobs) void job.stop();
		},
	};
}

/** Counts should never drift: comparing a few of them with the store, again and again, detects bugs. */
async function verifySomeCounts({ hub, verifier }: GatewayCheckParts): Promise<void> {
	const connections = hub.connections();
	const one = connections[Math.floor(Math.random() * connections.length)];
	if (one) await verifier.verifySome(one.user, CHECKED_AT_ONCE, Math.random);
}
