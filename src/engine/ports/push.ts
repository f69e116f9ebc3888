import type { NotificationLevel } from './facts.ts';

/**
 * What pushing keeps: devices, the outbox of messages that members have to be notified of, what was sent to which
 * device, and who has read something since. Times named `…At` are ms of the wall clock.
 *
 * Work is taken with a lease: a process has it alone until the lease ends; if the process died, it is due again then.
 */

export type PushPlatform = 'apns' | 'fcm' | 'web';

export interface Device {
	/** Of this token while it is this user's. */
	readonly id: string;
	readonly user: string;
	readonly platform: PushPlatform;
	/** What the provider knows the device by: a secret, never logged. */
	readonly token: string;
	/** The application, where it is not the one that is configured; empty otherwise. */
	readonly app: string;
	/** The badge it was last sent. */
	readonly badge: number;
	/** Micros. */
	readonly addedTs: number;
}

/** Changes are durable when they resolve. */
export interface PushDevices {
	/** A token that another user had is no longer theirs. */
	add(device: Omit<Device, 'badge'>): Promise<void>;
	/** Answers false when the user has no such device. */
	remove(user: string, platform: PushPlatform, token: string): Promise<boolean>;
	ofUser(user: string): Promise<readonly Device[]>;
}

export interface MessageKey {
	readonly conversation: string;
	readonly ts: number;
}

/** In place of a ts: not one message changed, but all of the conversation is over. */
export const WHOLE = 0;

/** A message whose members are being gone through. */
export interface OutboxEntry extends MessageKey {
	/** Changed: users whom it concerned before were notified when it was posted. */
	readonly because: 'posted' | 'changed';
	/** Counts how often it changed since it was put here; then they are gone through again. */
	readonly round: number;
	/** Members up to this one were looked at. */
	readonly after: string;
}

/** Where those come from whom a message may concern. */
export type CandidateSource =
	| { readonly of: 'members'; readonly threadTs: number | null }
	/** The same, looked for among those who have a device: better where these are the fewer. */
	| { readonly of: 'devices'; readonly threadTs: number | null }
	/** Of a reply that stands in its thread alone. */
	| { readonly of: 'followers'; readonly threadTs: number };

/** Somebody with a device, as the store knows them. */
export interface Candidate {
	readonly user: string;
	readonly devices: readonly string[];
	readonly muted: boolean;
	readonly level: NotificationLevel;
	/** Follows the thread of the audience. */
	readonly follows: boolean;
	/** Has read the message, in the conversation or in the thread. */
	readonly read: boolean;
	/** Nothing is sent to them until then. Micros. */
	readonly snoozedUntilTs: number;
}

export interface CandidatePage {
	readonly candidates: readonly Candidate[];
	/** Where to go on; null: there are no more. */
	readonly next: string | null;
}

export interface SendKey extends MessageKey {
	readonly device: string;
}

export interface SendOf extends SendKey {
	readonly user: string;
}

/** What a page of members comes to. */
export interface PageResult {
	readonly sends: readonly NewSend[];
	/** Users who are shown what is none of theirs any more. */
	readonly looks: readonly string[];
	/** Where to go on; null: all were gone through. */
	readonly next: string | null;
	readonly now: number;
}

export interface NewSend extends SendOf {
	/** Not before. */
	readonly nextAt: number;
}

export interface DueSend extends SendOf {
	/** This one included; above 1, an earlier one may have come to its end without anybody knowing. */
	readonly attempts: number;
	/** The message is in the user's ahead set: read, though the cursor is before it. */
	readonly ahead: boolean;
	/** Null: it is gone, or another user's by now. */
	readonly to: Device | null;
}

export type SendResult =
	| { readonly type: 'sent'; readonly badge: number }
	/** It is none of theirs any more: read, left, deleted. */
	| { readonly type: 'dropped' }
	| { readonly type: 'again'; readonly attempts: number; readonly nextAt: number; readonly error: string }
	| { readonly type: 'dead'; readonly attempts: number; readonly error: string }
	/** The provider does not know the device any more: it goes, with all that was for it. */
	| { readonly type: 'gone' };

/** A user who has read something since they were looked at. */
export interface ReadEntry {
	readonly user: string;
	/** How often so far. */
	readonly marks: number;
}

/** What a device shows. */
export interface ShownSend extends SendKey {
	readonly ahead: boolean;
}

export interface DeadSend extends SendKey {
	readonly user: string;
	readonly attempts: number;
	readonly error: string;
}

export interface Lease {
	/** Of this taking alone. */
	readonly id: string;
	readonly now: number;
	readonly until: number;
	readonly limit: number;
}

export interface PushOutbox {
	/** `begun` false: only those whose members nobody has begun to go through. */
	takeMessages(lease: Lease, begun: boolean): Promise<readonly OutboxEntry[]>;
	/** Looks at `limit` of the audience, in the order of their ids. */
	candidates(
		message: MessageKey,
		audience: CandidateSource,
		after: string,
		limit: number,
	): Promise<CandidatePage>;
	/** Of these devices, those that show it. */
	shownOn(message: MessageKey, devices: readonly string[]): Promise<ReadonlySet<string>>;
	/** What is to be done for those looked at, and how far the members were gone through, together. */
	advance(entry: OutboxEntry, page: PageResult): Promise<void>;
	takeSends(lease: Lease): Promise<readonly DueSend[]>;
	/** How many could be taken now, counted up to `atMost`. */
	dueSends(now: number, atMost: number): Promise<number>;
	/** A user who has read something lately is looked at again after a send: it may have been that. */
	settle(send: SendOf, result: SendResult): Promise<void>;
	/** Somebody is to be looked at as if they had read something just now. */
	noteRead(user: string): Promise<void>;
	takeReads(lease: Lease): Promise<readonly ReadEntry[]>;
	shown(user: string): Promise<readonly ShownSend[]>;
	/** What was withdrawn is forgotten; the devices have this badge now. Not looked at again before `nextAt`. */
	withdrawn(
		entry: ReadEntry,
		done: { readonly sends: readonly SendKey[]; readonly badge: number | null; readonly nextAt: number },
	): Promise<void>;
	/** Nothing was done: to be looked at again from `nextAt` on. */
	putOff(entry: ReadEntry, nextAt: number): Promise<void>;
	/** Devices there are, and what is pending and dead. */
	sizes(): Promise<{ readonly devices: number; readonly pending: number; readonly dead: number }>;
	dead(limit: number): Promise<readonly DeadSend[]>;
	/** All that are dead are tried again; answers how many. */
	replay(now: number): Promise<number>;
	/** Everything that was taken is due again: the process that took it is gone. */
	releaseAll(now: number): Promise<void>;
	/** Forgets what was shown before this ts, and users whose marks were dealt with before that moment. */
	tidy(beforeTs: number, handledBefore: number): Promise<void>;
}

export interface PushStore {
	readonly devices: PushDevices;
	readonly outbox: PushOutbox;
}
