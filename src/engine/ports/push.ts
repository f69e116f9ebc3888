import type { NotificationLevel } from './facts.ts';

/**
 * Storage of push: devices, the outbox of messages that members may have to be notified about, notifications per
 * device, and users who have read something since. Fields named `…At` are wall-clock ms.
 *
 * Work is taken with a lease: one process has it until the lease ends; if that process dies, the work becomes due again.
 */

export type PushPlatform = 'apns' | 'fcm' | 'web';

export interface Device {
	/** Identifies this token for as long as it belongs to this user. */
	readonly id: string;
	readonly user: string;
	readonly platform: PushPlatform;
	/** The provider's token for the device: a secret, never log it. */
	readonly token: string;
	/** The application, if it differs from the configured one; empty otherwise. */
	readonly app: string;
	/** The badge that was last sent to it. */
	readonly badge: number;
	/** In microseconds. */
	readonly addedTs: number;
}

/** Changes are durable when the promise resolves. */
export interface PushDevices {
	/** Removes the token from any other user who had it: a device signed in as another user must not show the old user's messages. */
	add(device: Omit<Device, 'badge'>): Promise<void>;
	/** Resolves to false if the user has no such device. */
	remove(user: string, platform: PushPlatform, token: string): Promise<boolean>;
	ofUser(user: string): Promise<readonly Device[]>;
}

export interface MessageKey {
	readonly conversation: string;
	readonly ts: number;
}

/** In place of a ts: the entry is about the whole conversation, which was archived. */
export const WHOLE_CONVERSATION = 0;

/** A message whose audience is being processed. */
export interface OutboxEntry extends MessageKey {
	/** `changed`: notifies only users whom it newly mentions; the others were notified when it was posted. */
	readonly because: 'posted' | 'changed';
	/** 0 if the post queued it, 1 if a change did. Each further change adds 1 and restarts the processing. */
	readonly round: number;
	/** Members up to this id are processed. */
	readonly after: string;
}

/** How to find the users that a message may concern. */
export type CandidateSource =
	| { readonly of: 'members'; readonly threadTs: number | null }
	/** Members, found by way of their devices: faster if devices are fewer than members. */
	| { readonly of: 'devices'; readonly threadTs: number | null }
	/** For a reply that is not broadcast. */
	| { readonly of: 'followers'; readonly threadTs: number };

/** A user with a device, as stored. */
export interface Candidate {
	readonly user: string;
	readonly devices: readonly string[];
	readonly muted: boolean;
	readonly level: NotificationLevel;
	/** The user follows the thread. */
	readonly follows: boolean;
	/** The user has read the message, in the conversation or in the thread. */
	readonly read: boolean;
	/** No notifications until then. In microseconds. */
	readonly snoozedUntilTs: number;
}

export interface CandidatePage {
	readonly candidates: readonly Candidate[];
	/** Where the next page starts; null at the end. */
	readonly next: string | null;
}

export interface NotificationKey extends MessageKey {
	readonly device: string;
}

export interface UserNotification extends NotificationKey {
	readonly user: string;
}

/** The result of processing a page of members. */
export interface PageResult {
	readonly notifications: readonly NewNotification[];
	/** Users whose devices show notifications that no longer apply. */
	readonly recheck: readonly string[];
	/** Where the next page starts; null at the end. */
	readonly next: string | null;
	readonly now: number;
}

export interface NewNotification extends UserNotification {
	/** Earliest time of sending. */
	readonly nextAt: number;
}

export interface DueNotification extends UserNotification {
	/** Including this one; above 1, an earlier attempt may have succeeded without being recorded. */
	readonly attempts: number;
	/** The message is in the user's ahead set: read, although the cursor is before it. */
	readonly ahead: boolean;
	/** No notifications until then. In microseconds. */
	readonly snoozedUntilTs: number;
	/** Null: the device was removed, or belongs to another user now. */
	readonly to: Device | null;
}

export type NotificationResult =
	| { readonly type: 'sent'; readonly badge: number }
	/** Not sent because it no longer applies: read, left, deleted. */
	| { readonly type: 'dropped' }
	| { readonly type: 'again'; readonly attempts: number; readonly nextAt: number; readonly error: string }
	| { readonly type: 'dead'; readonly attempts: number; readonly error: string }
	/** The provider no longer knows the device: remove it and everything queued for it. */
	| { readonly type: 'gone' };

/** A user who has read something since their devices were last checked. */
export interface ReadEntry {
	readonly user: string;
	/** Number of marks so far. */
	readonly marks: number;
}

/** A notification that a device shows. */
export interface ShownNotification extends NotificationKey {
	readonly ahead: boolean;
}

export interface DeadNotification extends NotificationKey {
	readonly user: string;
	readonly attempts: number;
	readonly error: string;
}

export interface Lease {
	/** Unique per lease. */
	readonly id: string;
	readonly now: number;
	readonly until: number;
	readonly limit: number;
}

export interface PushOutbox {
	/** `includeBegun`: whether to take also messages whose processing has started. */
	takeMessages(lease: Lease, includeBegun: boolean): Promise<readonly OutboxEntry[]>;
	/** Reads `limit` users of the audience, by id. */
	candidates(
		message: MessageKey,
		audience: CandidateSource,
		after: string,
		limit: number,
	): Promise<CandidatePage>;
	/** Those of these devices that show the message, or are still to show it. */
	shownOn(message: MessageKey, devices: readonly string[]): Promise<ReadonlySet<string>>;
	/** Records the results of a page and the progress, atomically. */
	advance(entry: OutboxEntry, page: PageResult): Promise<void>;
	takeNotifications(lease: Lease): Promise<readonly DueNotification[]>;
	/** Number of notifications that could be taken now, counted up to `atMost`. */
	dueNotifications(now: number, atMost: number): Promise<number>;
	/** Records the result. If the user has read something lately, schedules another check: it may have been this message. */
	recordResult(notification: UserNotification, result: NotificationResult): Promise<void>;
	/** Schedules a check, as if the user had just read something. */
	queueCheck(user: string): Promise<void>;
	takeReads(lease: Lease): Promise<readonly ReadEntry[]>;
	shown(user: string): Promise<readonly ShownNotification[]>;
	/** Removes withdrawn notifications and records the badge of the devices. No further check before `nextAt`. */
	withdrawn(
		entry: ReadEntry,
		done: {
			readonly notifications: readonly NotificationKey[];
			readonly badge: number | null;
			readonly nextAt: number;
		},
	): Promise<void>;
	/** Records nothing: all devices are checked again from `nextAt`. */
	postpone(entry: ReadEntry, nextAt: number): Promise<void>;
	/** Numbers of devices, pending and dead notifications. */
	sizes(): Promise<{ readonly devices: number; readonly pending: number; readonly dead: number }>;
	dead(limit: number): Promise<readonly DeadNotification[]>;
	/** Retries all dead notifications; resolves to their number. */
	replay(now: number): Promise<number>;
	/** Releases all leases, because the process that held them is gone. */
	releaseAll(now: number): Promise<void>;
	/** Removes records of notifications sent for messages before `beforeTs`, and users whose marks were processed before `handledBefore`. */
	tidy(beforeTs: number, handledBefore: number): Promise<void>;
}

export interface PushStore {
	readonly devices: PushDevices;
	readonly outbox: PushOutbox;
}
