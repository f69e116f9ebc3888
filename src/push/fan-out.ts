import type { PresenceStore } from '../engine/ports/presence.ts';
import {
	type Candidate,
	type CandidateSource,
	type NewNotification,
	type OutboxEntry,
	type PushOutbox,
	WHOLE_CONVERSATION,
} from '../engine/ports/push.ts';
import type { Directory, History } from '../engine/ports/store.ts';
import type { Conversation } from '../model/conversation.ts';
import { isDirect } from '../model/ids.ts';
import type { Message } from '../model/message.ts';
import { type BatchData, loadBatchData } from './batch-data.ts';
import { decideNotification, isObsolete, type NotifiableMessage, type Recipient } from './decide.ts';
import { type RecipientStates, withActivity } from './recipient-states.ts';
import type { UserPace } from './user-pace.ts';

/**
 * Expands a message into notifications: finds the users to notify. A round takes some messages and reads one page of
 * members of each. A conversation of 500,000 members takes many rounds, and other messages get their turn in every
 * round.
 */

export interface FanOutParts {
	readonly outbox: PushOutbox;
	readonly history: History;
	readonly directory: Directory;
	readonly presence: Pick<PresenceStore, 'activeAmong'>;
	readonly recipients: RecipientStates;
	readonly nowMs: () => number;
	/** How long an active user has to read the message on another device. */
	readonly delayMs: number;
	readonly newLease: () => string;
	readonly pace: UserPace;
}

const LEASE_MS = 60_000;
const MESSAGES_PER_ROUND = 200;
/**
 * With this many notifications waiting, only messages that have not had their first page are expanded: notifications are processed
 * in order of time, and a direct message would otherwise wait behind a whole large channel.
 */
export const BACKLOG = 2_000;
export const MEMBERS_PER_PAGE = 500;
/** `withActivity` looks up `wasActive`, if the decision needs it. */
const DEFAULTS = { wasActive: false, active: false, waited: false };
/** How long the number of devices is cached. */
const RECOUNT_MS = 30_000;

export class FanOut {
	private devices = { count: 0, until: 0 };

	constructor(private readonly parts: FanOutParts) {}

	/** Returns the number of messages processed. */
	async round(): Promise<number> {
		const { outbox, nowMs, newLease } = this.parts;
		const now = nowMs();
		const lease = { id: newLease(), now, until: now + LEASE_MS, limit: MESSAGES_PER_ROUND };
		const entries = await outbox.takeMessages(lease, (await outbox.dueNotifications(now, BACKLOG)) < BACKLOG);
		if (entries.length === 0) return 0;
		const data = await loadBatchData(entries, this.parts);
		await this.countDevices(now);
		await Promise.all(entries.map((entry) => this.expand(entry, data)));
		return entries.length;
	}

	private async expand(entry: OutboxEntry, data: BatchData): Promise<void> {
		const { outbox, nowMs } = this.parts;
		const conversation = data.conversation(entry.conversation);
		if (entry.ts === WHOLE_CONVERSATION && conversation?.archived)
			return this.expandArchived(entry, conversation);
		const message = data.message(entry);
		const isNew = entry.round === 0;
		if (!message || !conversation || conversation.archived || (isNew && message.deleted))
			return outbox.advance(entry, { notifications: [], recheck: [], next: null, now: nowMs() });
		const source = this.sourceOf(message, conversation);
		const { candidates, next } = await outbox.candidates(entry, source, entry.after, MEMBERS_PER_PAGE);
		const subject = { ...message, direct: isDirect(conversation.kind) };
		const notifications = await this.notificationsFor(subject, entry, message, candidates);
		const recheck = isNew ? [] : await this.usersToRecheck(subject, message, candidates);
		await outbox.advance(entry, { notifications, recheck, next, now: nowMs() });
	}

	/** For an archived conversation: any member's device may show one of its notifications. */
	private async expandArchived(entry: OutboxEntry, conversation: Conversation): Promise<void> {
		const { outbox, nowMs } = this.parts;
		const source = { of: this.cheaperSource(conversation), threadTs: null };
		const { candidates, next } = await outbox.candidates(entry, source, entry.after, MEMBERS_PER_PAGE);
		await outbox.advance(entry, {
			notifications: [],
			recheck: candidates.map(({ user }) => user),
			next,
			now: nowMs(),
		});
	}

	/**
	 * The users whose devices show a notification of a message that, after an edit or a delete, no longer concerns
	 * them.
	 */
	private async usersToRecheck(
		subject: NotifiableMessage,
		message: Message,
		candidates: readonly Candidate[],
	): Promise<string[]> {
		const shown = await this.parts.outbox.shownOn(
			message,
			candidates.flatMap(({ devices }) => devices),
		);
		const users: string[] = [];
		for (const candidate of candidates) {
			if (!candidate.devices.some((device) => shown.has(device))) continue;
			const recipient = { ...candidate, ...DEFAULTS, member: true };
			if (isObsolete(subject, await this.withActivityOf(subject, message, recipient)))
				users.push(candidate.user);
		}
		return users;
	}

	private sourceOf(message: Message, conversation: Conversation): CandidateSource {
		const { threadTs, broadcast } = message;
		// A broadcast reply that was deleted is in no timeline, but members were notified of it.
		if (threadTs !== null && !broadcast) return { of: 'followers', threadTs };
		return { of: this.cheaperSource(conversation), threadTs };
	}

	private cheaperSource({ memberCount }: Conversation): 'devices' | 'members' {
		return this.devices.count < memberCount ? 'devices' : 'members';
	}

	private async notificationsFor(
		subject: NotifiableMessage,
		{ because }: OutboxEntry,
		message: Message,
		candidates: readonly Candidate[],
	): Promise<NewNotification[]> {
		if (candidates.length === 0 || message.deleted) return [];
		const { presence, nowMs, delayMs, pace } = this.parts;
		const active = await presence.activeAmong(candidates.map(({ user }) => user));
		const now = nowMs();
		const notifications: NewNotification[] = [];
		for (const candidate of candidates) {
			if (candidate.snoozedUntilTs > now * 1000) continue;
			const recipient = {
				...candidate,
				...DEFAULTS,
				member: true,
				active: active.has(candidate.user),
			};
			const decision = decideNotification(
				subject,
				await this.withActivityOf(subject, message, recipient),
				because,
			);
			if (decision === 'no') continue;
			const from = decision === 'wait' ? now + delayMs : now;
			for (const device of candidate.devices)
				notifications.push({
					device,
					conversation: message.conversation,
					ts: message.ts,
					user: candidate.user,
					nextAt: from + pace.next(candidate.user),
				});
		}
		return notifications;
	}

	private withActivityOf = (
		subject: NotifiableMessage,
		message: Message,
		recipient: Recipient,
	): Promise<Recipient> => withActivity(this.parts.recipients, subject, message, recipient);

	private async countDevices(now: number): Promise<void> {
		if (now < this.devices.until) return;
		const { devices } = await this.parts.outbox.sizes();
		this.devices = { count: devices, until: now + RECOUNT_MS };
	}
}
