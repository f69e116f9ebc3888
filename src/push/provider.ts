import type { Device, MessageKey } from '../engine/ports/push.ts';

/** Somebody who carries notifications to devices: APNs, FCM, the push services of browsers. */

/** What a person sees, and what an application needs to open the right place. */
export interface Notification {
	readonly title: string;
	readonly body: string;
	readonly message: MessageKey;
	readonly threadTs: number | null;
	/** The user's badge, with this message in it. */
	readonly badge: number;
}

/** Nothing to see: the badge falls, and what was read elsewhere goes. */
export interface Withdrawal {
	readonly badge: number;
	readonly messages: readonly MessageKey[];
}

export type Outcome =
	| { readonly type: 'accepted' }
	/** The device is not there any more. */
	| { readonly type: 'gone' }
	/** It will never be taken. */
	| { readonly type: 'refused'; readonly error: string }
	/** Not now. Counts as a try. */
	| { readonly type: 'busy'; readonly error: string; readonly retryAfterMs?: number }
	/** Nothing can be sent at all: unreachable, or the credentials are refused. Nobody's try is used up by it. */
	| { readonly type: 'away'; readonly error: string; readonly retryAfterMs?: number };

export interface PushProvider {
	/** Never rejects. Repeating it shows nothing twice: what is sent under the same message replaces the earlier one. */
	notify(device: Device, notification: Notification): Promise<Outcome>;
	withdraw(device: Device, withdrawal: Withdrawal): Promise<Outcome>;
	/** The host it is sent to, if there are several: an unavailable one is paused, others continue. */
	endpointOf?(device: Device): string;
	/** Whether anything could be sent, before there is something to: null, or what is wrong. */
	check(): Promise<string | null>;
	close(): void;
}

/** What a notification is replaced under, and removed by: one for each message, on every platform. */
export const collapseId = ({ conversation, ts }: MessageKey): string => `${conversation}:${ts}`;
