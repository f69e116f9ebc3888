import type { Device, MessageKey } from '../engine/ports/push.ts';

/** A push service: APNs, FCM, or the push services of browsers. */

/** What the user sees, and what an application needs to open the conversation. */
export interface Notification {
	readonly title: string;
	readonly body: string;
	readonly message: MessageKey;
	readonly threadTs: number | null;
	/** The user's badge, including this message. */
	readonly badge: number;
}

/** Silent update: sets the badge, and removes notifications whose messages were read elsewhere or no longer concern the user. */
export interface Withdrawal {
	readonly badge: number;
	readonly messages: readonly MessageKey[];
}

export type PushOutcome =
	| { readonly type: 'accepted' }
	/** The device is no longer registered. */
	| { readonly type: 'gone' }
	/** Rejected for good. */
	| { readonly type: 'rejected'; readonly error: string }
	/** Retry later. Counts as an attempt. */
	| { readonly type: 'busy'; readonly error: string; readonly retryAfterMs?: number }
	/** Nothing can be sent: the service is unreachable, or rejects the credentials. Resets the number of attempts to 1. */
	| { readonly type: 'unavailable'; readonly error: string; readonly retryAfterMs?: number };

export interface PushProvider {
	/** Never rejects. Idempotent: a repeated notification for a message replaces the earlier one. */
	notify(device: Device, notification: Notification): Promise<PushOutcome>;
	withdraw(device: Device, withdrawal: Withdrawal): Promise<PushOutcome>;
	/** The endpoint for the device, if there are several: an unavailable one is paused, others continue. */
	endpointOf?(device: Device): string;
	/** Checks before the first notification that sending is possible: null, or the error. */
	check(): Promise<string | null>;
	close(): void;
}

/** The id under which a notification is replaced and removed: one for each message, on every platform. */
export const collapseId = ({ conversation, ts }: MessageKey): string => `${conversation}:${ts}`;
