import type { Device, PushDevices, PushOutbox, ReadEntry, ShownNotification } from '../engine/ports/push.ts';
import type { Directory, History } from '../engine/ports/store.ts';
import { loadBatchData } from './batch-data.ts';
import type { Meters } from './meters.ts';
import type { Providers } from './providers.ts';
import { isObsoleteFor, type RecipientStates } from './recipient-states.ts';

/**
 * Withdraws notifications of messages that the user has read on another device, or that no longer concern the user:
 * each device gets the current badge and the ids to remove, at most once in two seconds. The ids are derived from the
 * stored notifications and the user's cursors, so a crash loses none.
 */

export interface WithdrawalsParts {
	readonly outbox: PushOutbox;
	readonly devices: PushDevices;
	readonly history: History;
	readonly directory: Directory;
	readonly recipients: RecipientStates;
	readonly providers: Providers;
	readonly meters: Meters;
	readonly nowMs: () => number;
	readonly newLease: () => string;
	readonly report: (error: unknown) => void;
}

/** After this time, another process takes over the work of a process that died. */
const LEASE_MS = 30_000;
const USERS_AT_ONCE = 200;
export const UPDATE_EVERY_MS = 2_000;
/** While notifications are being sent to a user who reads, their devices are checked this often, not after each notification. */
const CHECK_EVERY_MS = 500;

export class Withdrawals {
	constructor(private readonly parts: WithdrawalsParts) {}

	/** Updates in progress, by user. A slow update does not delay those of other users. */
	private readonly inFlight = new Map<string, Promise<void>>();

	/** Returns the number of users taken. */
	async round(): Promise<number> {
		const { outbox, nowMs, newLease, report } = this.parts;
		if (this.inFlight.size >= USERS_AT_ONCE) await Promise.race(this.inFlight.values());
		const now = nowMs();
		const entries = await outbox.takeReads({
			id: newLease(),
			now,
			until: now + LEASE_MS,
			limit: USERS_AT_ONCE - this.inFlight.size,
		});
		for (const entry of entries) {
			// The earlier update outlasted its lease; the user becomes due again when the new lease ends.
			if (this.inFlight.has(entry.user)) continue;
			const updating = this.update(entry)
				.catch(report)
				.then(() => void this.inFlight.delete(entry.user));
			this.inFlight.set(entry.user, updating);
		}
		return entries.length;
	}

	/** Resolves when all updates are done. */
	async idle(): Promise<void> {
		await Promise.all(this.inFlight.values());
	}

	private async update(entry: ReadEntry): Promise<void> {
		const { outbox, devices, recipients, nowMs } = this.parts;
		const [shown, owned] = await Promise.all([outbox.shown(entry.user), devices.ofUser(entry.user)]);
		if (owned.length === 0)
			return outbox.withdrawn(entry, { notifications: shown, badge: null, nextAt: nowMs() });
		const obsolete = await this.obsoleteOf(entry.user, shown);
		const badge = await recipients.badge(entry.user);
		const devicesToUpdate = owned.filter(
			(device) => device.badge > badge || obsolete.some((notification) => notification.device === device.id),
		);
		if (devicesToUpdate.length === 0)
			return outbox.withdrawn(entry, {
				notifications: obsolete,
				badge: null,
				nextAt: nowMs() + CHECK_EVERY_MS,
			});
		const retryTimes = await Promise.all(
			devicesToUpdate.map((device) => this.withdraw(device, obsolete, badge)),
		);
		const retryAt = Math.max(...retryTimes);
		// If one device was not reached, all get the update again, which is idempotent.
		if (retryAt > 0) return outbox.postpone(entry, retryAt);
		await outbox.withdrawn(entry, { notifications: obsolete, badge, nextAt: nowMs() + UPDATE_EVERY_MS });
	}

	/** Returns when to retry; 0: the device is done. */
	private async withdraw(
		device: Device,
		obsolete: readonly ShownNotification[],
		badge: number,
	): Promise<number> {
		const { outbox, providers, meters, nowMs } = this.parts;
		const provider = providers.provider(device.platform);
		if (!provider) return 0;
		const paused = providers.pausedUntil(device);
		if (paused > 0) return paused;
		const messages = obsolete.filter((notification) => notification.device === device.id);
		const outcome = await provider.withdraw(device, { badge, messages });
		providers.recordOutcome(device, outcome);
		if (outcome.type === 'accepted') meters.withdrawn += messages.length;
		if (outcome.type === 'gone') {
			await outbox.recordResult({ device: device.id, user: device.user, conversation: '', ts: 0 }, outcome);
			meters.note(outcome);
		}
		if (outcome.type !== 'busy' && outcome.type !== 'unavailable') return 0;
		const wait = Math.max(UPDATE_EVERY_MS, outcome.retryAfterMs ?? 0);
		return Math.max(providers.pausedUntil(device), nowMs() + wait);
	}

	/** The shown notifications whose messages were read or no longer concern the user. */
	private async obsoleteOf(user: string, shown: readonly ShownNotification[]): Promise<ShownNotification[]> {
		if (shown.length === 0) return [];
		const data = await loadBatchData(shown, this.parts);
		const obsolete: ShownNotification[] = [];
		for (const notification of shown) {
			const message = data.message(notification);
			if (!message || (await isObsoleteFor({ ...notification, user }, message, data, this.parts.recipients)))
				obsolete.push(notification);
		}
		return obsolete;
	}
}
