import type { Device, PushDevices, PushOutbox, ReadEntry, ShownSend } from '../engine/ports/push.ts';
import type { Directory, History } from '../engine/ports/store.ts';
import type { Carriers } from './carriers.ts';
import { materialFor } from './material.ts';
import type { Meters } from './meters.ts';
import type { Standings } from './standing.ts';

/**
 * Whoever reads something elsewhere stops seeing it: their devices are told the badge of now and what to remove, at
 * most once in two seconds each. What is to be removed follows from what was sent and what is read, so that nothing is
 * forgotten however this process ends.
 */

export interface WithdrawalParts {
	readonly outbox: PushOutbox;
	readonly devices: PushDevices;
	readonly history: History;
	readonly directory: Directory;
	readonly standings: Standings;
	readonly carriers: Carriers;
	readonly meters: Meters;
	readonly nowMs: () => number;
	readonly newLease: () => string;
	readonly report: (error: unknown) => void;
}

/** What could not be told is tried again after it. */
const LEASE_MS = 30_000;
const USERS_PER_ROUND = 200;
export const UPDATE_EVERY_MS = 2_000;

export class Withdrawals {
	constructor(private readonly parts: WithdrawalParts) {}

	/** Answers how many users were looked at. */
	async round(): Promise<number> {
		const { outbox, nowMs, newLease, report } = this.parts;
		const now = nowMs();
		const entries = await outbox.takeReads({
			id: newLease(),
			now,
			until: now + LEASE_MS,
			limit: USERS_PER_ROUND,
		});
		await Promise.all(entries.map((entry) => this.update(entry).catch(report)));
		return entries.length;
	}

	private async update(entry: ReadEntry): Promise<void> {
		const { outbox, devices, standings, nowMs } = this.parts;
		const [shown, owned] = await Promise.all([outbox.shown(entry.user), devices.ofUser(entry.user)]);
		if (owned.length === 0) return outbox.withdrawn(entry, { sends: shown, badge: null, nextAt: nowMs() });
		const read = await this.readOf(entry.user, shown);
		const badge = await standings.badge(entry.user);
		const told = owned.filter(
			(device) => device.badge > badge || read.some((send) => send.device === device.id),
		);
		if (told.length === 0) return outbox.withdrawn(entry, { sends: read, badge: null, nextAt: nowMs() });
		const ends = await Promise.all(told.map((device) => this.tell(device, read, badge)));
		// Left to the lease where one was not told: it is told then, the others a second time, which changes nothing.
		if (ends.every((ended) => ended))
			await outbox.withdrawn(entry, { sends: read, badge, nextAt: nowMs() + UPDATE_EVERY_MS });
	}

	/** Answers whether there is nothing more to be done for the device. */
	private async tell(device: Device, read: readonly ShownSend[], badge: number): Promise<boolean> {
		const { outbox, carriers, meters } = this.parts;
		const provider = carriers.provider(device.platform);
		if (!provider) return true;
		if (carriers.pausedUntil(device) > 0) return false;
		const messages = read.filter((send) => send.device === device.id);
		const outcome = await provider.withdraw(device, { badge, messages });
		carriers.note(device, outcome);
		if (outcome.type === 'accepted') meters.withdrawn += messages.length;
		if (outcome.type === 'gone')
			await outbox.settle({ device: device.id, conversation: '', ts: 0 }, { type: 'gone' });
		return outcome.type !== 'busy' && outcome.type !== 'away';
	}

	/** Of what is shown: what is read, or is nothing to be read any more. */
	private async readOf(user: string, shown: readonly ShownSend[]): Promise<ShownSend[]> {
		if (shown.length === 0) return [];
		const material = await materialFor(shown, this.parts);
		const read: ShownSend[] = [];
		for (const send of shown) {
			const message = material.message(send);
			if (!message || message.deleted) {
				read.push(send);
				continue;
			}
			const standing = await this.parts.standings.of(user, message, send.ahead);
			if (!standing || standing.read) read.push(send);
		}
		return read;
	}
}
