import type { DueNotification, NotificationResult, PushOutbox } from '../engine/ports/push.ts';
import type { Directory, History } from '../engine/ports/store.ts';
import type { Message } from '../model/message.ts';
import { nextTurn } from '../model/next-turn.ts';
import { backOffMs, MAX_ATTEMPTS } from './backoff.ts';
import { type BatchData, loadBatchData } from './batch-data.ts';
import { notificationContent } from './content.ts';
import type { Meters } from './meters.ts';
import type { PushOutcome } from './provider.ts';
import type { Providers } from './providers.ts';
import { isObsoleteFor, type RecipientStates } from './recipient-states.ts';
import type { UserPace } from './user-pace.ts';

/**
 * Sends due notifications. Each is checked again right before sending: a user who has read the message or
 * snoozed notifications meanwhile is not notified, and the badge is current.
 *
 * The result is stored after the provider has answered. If the process dies in between, the notification is sent
 * again under the same id, and the device shows it once: docs/adr/0020-push.md.
 */

export interface SenderParts {
	readonly outbox: PushOutbox;
	readonly history: History;
	readonly directory: Directory;
	readonly recipients: RecipientStates;
	readonly providers: Providers;
	readonly meters: Meters;
	readonly nowMs: () => number;
	readonly random: () => number;
	readonly newLease: () => string;
	readonly report: (error: unknown) => void;
	readonly pace: UserPace;
}

const LEASE_MS = 60_000;
const NOTIFICATIONS_PER_ROUND = 250;
/** Between turns, the process answers other requests. */
const NOTIFICATIONS_PER_TURN = 25;
/** Notifications of older messages are dropped. */
const MAX_AGE_MS = 24 * 60 * 60_000;

export class Sender {
	constructor(private readonly parts: SenderParts) {}

	/** Takes due notifications under a lease of this process. */
	async take(): Promise<readonly DueNotification[]> {
		const { outbox, providers, nowMs, newLease } = this.parts;
		if (providers.allPaused()) return [];
		const now = nowMs();
		return outbox.takeNotifications({
			id: newLease(),
			now,
			until: now + LEASE_MS,
			limit: NOTIFICATIONS_PER_ROUND,
		});
	}

	async send(due: readonly DueNotification[]): Promise<void> {
		const data = await loadBatchData(due, this.parts);
		const badges = new Map<string, Promise<number>>();
		const badgeOf = (user: string): Promise<number> => {
			const known = badges.get(user) ?? this.parts.recipients.badge(user);
			badges.set(user, known);
			return known;
		};
		const sending: Promise<void>[] = [];
		for (const [index, notification] of due.entries()) {
			if (index > 0 && index % NOTIFICATIONS_PER_TURN === 0) await nextTurn();
			// A failed notification becomes due again when the lease ends; the others continue.
			sending.push(this.sendOne(notification, data, badgeOf).catch((error) => this.parts.report(error)));
		}
		await Promise.all(sending);
	}

	private async sendOne(
		notification: DueNotification,
		data: BatchData,
		badgeOf: (user: string) => Promise<number>,
	): Promise<void> {
		const { outbox, recipients, meters, nowMs } = this.parts;
		const message = data.message(notification);
		if (!notification.to) return outbox.recordResult(notification, { type: 'dropped' });
		const isSnoozed = notification.snoozedUntilTs > nowMs() * 1000;
		if (isSnoozed || !message || (await isObsoleteFor(notification, message, data, recipients))) {
			if (notification.attempts === 1) return outbox.recordResult(notification, { type: 'dropped' });
			// The provider may have accepted an earlier attempt whose answer was lost: it counts as sent, and is withdrawn once it is obsolete.
			// Queue the check first: if this process dies in between, the notification is still pending and is taken again.
			await outbox.queueCheck(notification.user);
			return outbox.recordResult(notification, { type: 'sent', badge: notification.to.badge });
		}
		const result = await this.deliver(notification, notification.to, message, data, badgeOf);
		await outbox.recordResult(notification, result);
		meters.note(result);
	}

	private async deliver(
		notification: DueNotification,
		device: NonNullable<DueNotification['to']>,
		message: Message,
		data: BatchData,
		badgeOf: (user: string) => Promise<number>,
	): Promise<NotificationResult> {
		const { providers, nowMs, pace } = this.parts;
		const { attempts } = notification;
		const provider = providers.provider(device.platform);
		if (!provider) return { type: 'dead', attempts, error: `${device.platform} is not configured` };
		if (nowMs() - message.ts / 1000 > MAX_AGE_MS) return { type: 'dead', attempts, error: 'too old' };
		const paused = providers.pausedUntil(device);
		if (paused > 0) {
			// After an outage everything is due together: pace users then as well.
			const nextAt = paused + pace.next(notification.user);
			return { type: 'again', attempts: attempts - 1, nextAt, error: `${device.platform} is unavailable` };
		}
		const badge = await badgeOf(notification.user);
		const outcome = await provider.notify(device, {
			...notificationContent(message, {
				conversation: data.conversation(message.conversation),
				people: data.people,
			}),
			message: { conversation: message.conversation, ts: message.ts },
			threadTs: message.threadTs,
			badge,
		});
		providers.recordOutcome(device, outcome);
		return this.resultOf(outcome, notification, device, badge);
	}

	private resultOf(
		outcome: PushOutcome,
		{ attempts }: DueNotification,
		device: NonNullable<DueNotification['to']>,
		badge: number,
	): NotificationResult {
		const { providers, nowMs, random } = this.parts;
		switch (outcome.type) {
			case 'accepted':
				return { type: 'sent', badge };
			case 'gone':
				return { type: 'gone' };
			case 'rejected':
				return { type: 'dead', attempts, error: outcome.error };
			case 'busy': {
				if (attempts >= MAX_ATTEMPTS) return { type: 'dead', attempts, error: outcome.error };
				const wait = backOffMs(attempts, random, outcome.retryAfterMs);
				return { type: 'again', attempts, nextAt: nowMs() + wait, error: outcome.error };
			}
			case 'unavailable': {
				// Resets the attempts to 1, not 0, because the notification may have arrived.
				const nextAt = Math.max(providers.pausedUntil(device), nowMs());
				return { type: 'again', attempts: 1, nextAt, error: outcome.error };
			}
		}
	}
}
