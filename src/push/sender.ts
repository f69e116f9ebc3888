import type { DueSend, PushOutbox, SendResult } from '../engine/ports/push.ts';
import type { Directory, History } from '../engine/ports/store.ts';
import type { Message } from '../model/message.ts';
import { backOffMs, MAX_ATTEMPTS } from './backoff.ts';
import type { Carriers } from './carriers.ts';
import { contentOf } from './content.ts';
import { type Material, materialFor } from './material.ts';
import type { Meters } from './meters.ts';
import type { Pace } from './pace.ts';
import type { Outcome } from './provider.ts';
import { isOverFor, type RecipientStates } from './recipient-states.ts';

/**
 * Sends due notifications. Each is checked again right before sending: a user who has read the message meanwhile is
 * not notified, and the badge is current.
 *
 * The result is stored after the provider has answered. If the process dies in between, the notification is sent
 * again under the same id, and the device shows it once: docs/adr/0020-push.md.
 */

export interface SenderParts {
	readonly outbox: PushOutbox;
	readonly history: History;
	readonly directory: Directory;
	readonly recipients: RecipientStates;
	readonly carriers: Carriers;
	readonly meters: Meters;
	readonly nowMs: () => number;
	readonly random: () => number;
	readonly newLease: () => string;
	readonly report: (error: unknown) => void;
	readonly pace: Pace;
}

const LEASE_MS = 60_000;
const SENDS_PER_ROUND = 250;
/** Between turns, the process answers other requests. */
const SENDS_PER_TURN = 25;
/** Notifications of older messages are dropped. */
const MAX_AGE_MS = 24 * 60 * 60_000;

export class Sender {
	constructor(private readonly parts: SenderParts) {}

	/** Takes due sends under a lease of this process. */
	async take(): Promise<readonly DueSend[]> {
		const { outbox, carriers, nowMs, newLease } = this.parts;
		if (carriers.allPaused()) return [];
		const now = nowMs();
		return outbox.takeSends({ id: newLease(), now, until: now + LEASE_MS, limit: SENDS_PER_ROUND });
	}

	async send(due: readonly DueSend[]): Promise<void> {
		const material = await materialFor(due, this.parts);
		const badges = new Map<string, Promise<number>>();
		const badgeOf = (user: string): Promise<number> => {
			const known = badges.get(user) ?? this.parts.recipients.badge(user);
			badges.set(user, known);
			return known;
		};
		const under: Promise<void>[] = [];
		for (const [index, send] of due.entries()) {
			if (index > 0 && index % SENDS_PER_TURN === 0) await nextTurn();
			// A failed send becomes due again when the lease ends; the others continue.
			under.push(this.one(send, material, badgeOf).catch((error) => this.parts.report(error)));
		}
		await Promise.all(under);
	}

	private async one(
		send: DueSend,
		material: Material,
		badgeOf: (user: string) => Promise<number>,
	): Promise<void> {
		const { outbox, meters } = this.parts;
		const message = material.message(send);
		if (!send.to) return outbox.settle(send, { type: 'dropped' });
		if (!message || (await isOverFor(send, message, material, this.parts.recipients))) {
			if (send.attempts === 1) return outbox.settle(send, { type: 'dropped' });
			// The provider may have accepted an earlier attempt whose answer was lost: withdraw it like any other.
			// The user is noted first. If this process dies in between, the send is still pending and is taken again.
			await outbox.noteRead(send.user);
			return outbox.settle(send, { type: 'sent', badge: send.to.badge });
		}
		const result = await this.deliver(send, send.to, message, material, badgeOf);
		await outbox.settle(send, result);
		meters.note(result);
	}

	private async deliver(
		send: DueSend,
		device: NonNullable<DueSend['to']>,
		message: Message,
		material: Material,
		badgeOf: (user: string) => Promise<number>,
	): Promise<SendResult> {
		const { carriers, nowMs, pace } = this.parts;
		const { attempts } = send;
		const provider = carriers.provider(device.platform);
		if (!provider) return { type: 'dead', attempts, error: `${device.platform} is not configured` };
		if (nowMs() - message.ts / 1000 > MAX_AGE_MS) return { type: 'dead', attempts, error: 'too old' };
		const paused = carriers.pausedUntil(device);
		if (paused > 0) {
			// After an outage everything is due together: pace users then as well.
			const nextAt = paused + pace.next(send.user);
			return { type: 'again', attempts: attempts - 1, nextAt, error: `${device.platform} is unavailable` };
		}
		const badge = await badgeOf(send.user);
		const outcome = await provider.notify(device, {
			...contentOf(message, {
				conversation: material.conversation(message.conversation),
				people: material.people,
			}),
			message: { conversation: message.conversation, ts: message.ts },
			threadTs: message.threadTs,
			badge,
		});
		carriers.note(device, outcome);
		return this.resultOf(outcome, send, device, badge);
	}

	private resultOf(
		outcome: Outcome,
		{ attempts }: DueSend,
		device: NonNullable<DueSend['to']>,
		badge: number,
	): SendResult {
		const { carriers, nowMs, random } = this.parts;
		switch (outcome.type) {
			case 'accepted':
				return { type: 'sent', badge };
			case 'gone':
				return { type: 'gone' };
			case 'refused':
				return { type: 'dead', attempts, error: outcome.error };
			case 'busy': {
				if (attempts >= MAX_ATTEMPTS) return { type: 'dead', attempts, error: outcome.error };
				const wait = backOffMs(attempts, random, outcome.retryAfterMs);
				return { type: 'again', attempts, nextAt: nowMs() + wait, error: outcome.error };
			}
			case 'unavailable': {
				// Does not use up an attempt, but records one, because the notification may have arrived.
				const nextAt = Math.max(carriers.pausedUntil(device), nowMs());
				return { type: 'again', attempts: 1, nextAt, error: outcome.error };
			}
		}
	}
}

/** Yields to other work of the event loop: this process may also serve requests. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
