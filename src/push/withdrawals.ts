import type { Device, PushDevices, PushOutbox, ReadEntry, ShownSend } from '../engine/ports/push.ts';
import type { Directory, History } from '../engine/ports/store.ts';
import type { Carriers } from './carriers.ts';
import { materialFor } from './material.ts';
import type { Meters } from './meters.ts';
import { isOverFor, type RecipientStates } from './recipient-states.ts';

/**
 * A user who reads a message on one device stops seeing its notification on the others: they get the current badge and what to remove, at
 * most once in two seconds each. What is to be removed follows from what was sent and what is read, so that nothing is
 * forgotten however this process ends.
 */

export interface WithdrawalParts {
	readonly outbox: PushOutbox;
	readonly devices: PushDevices;
	readonly history: History;
	readonly directory: Directory;
	readonly recipients: RecipientStates;
	readonly carriers: Carriers;
	readonly meters: Meters;
	readonly nowMs: () => number;
	readonly newLease: () => string;
	readonly report: (error: unknown) => void;
}

/** How long the lease of a process that died lasts. */
const LEASE_MS = 30_000;
const USERS_AT_ONCE = 200;
export const UPDATE_EVERY_MS = 2_000;
/** Who reads while much is being sent to them is looked at so often, not after each. */
const LOOK_EVERY_MS = 500;

export class Withdrawals {
	constructor(private readonly parts: WithdrawalParts) {}

	/** Users whose devices are being updated: one with much to withdraw does not hold up the others. */
	private readonly underWay = new Map<string, Promise<void>>();

	/** Answers how many users were taken. */
	async round(): Promise<number> {
		const { outbox, nowMs, newLease, report } = this.parts;
		if (this.underWay.size >= USERS_AT_ONCE) await Promise.race(this.underWay.values());
		const now = nowMs();
		const entries = await outbox.takeReads({
			id: newLease(),
			now,
			until: now + LEASE_MS,
			limit: USERS_AT_ONCE - this.underWay.size,
		});
		for (const entry of entries) {
			// Took longer than its lease: due again when the new one ends.
			if (this.underWay.has(entry.user)) continue;
			const updating = this.update(entry)
				.catch(report)
				.then(() => void this.underWay.delete(entry.user));
			this.underWay.set(entry.user, updating);
		}
		return entries.length;
	}

	/** Resolves when nothing is under way. */
	async settled(): Promise<void> {
		await Promise.all(this.underWay.values());
	}

	private async update(entry: ReadEntry): Promise<void> {
		const { outbox, devices, recipients, nowMs } = this.parts;
		const [shown, owned] = await Promise.all([outbox.shown(entry.user), devices.ofUser(entry.user)]);
		if (owned.length === 0) return outbox.withdrawn(entry, { sends: shown, badge: null, nextAt: nowMs() });
		const over = await this.overOf(entry.user, shown);
		const badge = await recipients.badge(entry.user);
		const devicesToUpdate = owned.filter(
			(device) => device.badge > badge || over.some((send) => send.device === device.id),
		);
		if (devicesToUpdate.length === 0)
			return outbox.withdrawn(entry, { sends: over, badge: null, nextAt: nowMs() + LOOK_EVERY_MS });
		const retries = await Promise.all(devicesToUpdate.map((device) => this.withdraw(device, over, badge)));
		const retryAt = Math.max(...retries);
		// Where one device was not reached, all are sent it again, which changes nothing.
		if (retryAt > 0) return outbox.putOff(entry, retryAt);
		await outbox.withdrawn(entry, { sends: over, badge, nextAt: nowMs() + UPDATE_EVERY_MS });
	}

	/** Answers when to try again; 0: there is nothing more to be done for the device. */
	private async withdraw(device: Device, over: readonly ShownSend[], badge: number): Promise<number> {
		const { outbox, carriers, meters, nowMs } = this.parts;
		const provider = carriers.provider(device.platform);
		if (!provider) return 0;
		const paused = carriers.pausedUntil(device);
		if (paused > 0) return paused;
		const messages = over.filter((send) => send.device === device.id);
		const outcome = await provider.withdraw(device, { badge, messages });
		carriers.note(device, outcome);
		if (outcome.type === 'accepted') meters.withdrawn += messages.length;
		if (outcome.type === 'gone')
			await outbox.settle(
				{ device: device.id, user: device.user, conversation: '', ts: 0 },
				{ type: 'gone' },
			);
		if (outcome.type !== 'busy' && outcome.type !== 'away') return 0;
		const wait = Math.max(UPDATE_EVERY_MS, outcome.retryAfterMs ?? 0);
		return Math.max(carriers.pausedUntil(device), nowMs() + wait);
	}

	/** Of what is shown: what is read, or is none of theirs any more. */
	private async overOf(user: string, shown: readonly ShownSend[]): Promise<ShownSend[]> {
		if (shown.length === 0) return [];
		const material = await materialFor(shown, this.parts);
		const over: ShownSend[] = [];
		for (const send of shown) {
			const message = material.message(send);
			if (!message || (await isOverFor({ ...send, user }, message, material, this.parts.recipients)))
				over.push(send);
		}
		return over;
	}
}
