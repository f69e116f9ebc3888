import type { PresenceStore } from '../../src/engine/ports/presence.ts';
import type { Store } from '../../src/engine/ports/store.ts';
import { newId } from '../../src/model/ids.ts';
import type { PushOutcome, PushProvider } from '../../src/push/provider.ts';
import { Pusher } from '../../src/push/pusher.ts';
import type { ReadState } from '../../src/unread/read-state.ts';
import type { Operation } from '../support/oracle/operations.ts';
import type { Oracle } from '../support/oracle/oracle.ts';
import type { Process, Scheduler } from './scheduler.ts';

/**
 * A push service, one phone per user, and the rules that the judge checks: when all faults are over, a phone shows only unread messages that
 * its user is to be notified of, and every user whom a new message concerns was notified of it.
 */

export interface PushFaults {
	/** Chance that the service is busy, and that its answer is lost after it accepted a notification. */
	busy: number;
	lostAnswer: number;
	slowest: number;
}

export interface PusherOf {
	readonly store: Pick<Store, 'push' | 'history' | 'directory'>;
	readonly readState: ReadState;
	readonly presence: Pick<PresenceStore, 'activeAmong'>;
	readonly alone: boolean;
	readonly report: (error: unknown, about: string) => void;
}

/** Mismatches about phones begin with this text. */
export const OF_A_PHONE = 'the phone of';
const DELAY_MS = 1_000;
/** Rarer than in production: these polls were a third of all events of a history. */
const POLL_MS = 1_000;
const keyOf = (conversation: string, ts: number): string => `${conversation} ${ts}`;

export class Phones {
	readonly faults: PushFaults = { busy: 0, lostAnswer: 0, slowest: 20 };
	private readonly service: Process;
	/** By user: the messages that the phone shows, and all that it was ever notified of. */
	private readonly shown = new Map<string, Set<string>>();
	private readonly notified = new Map<string, Set<string>>();

	constructor(
		private readonly scheduler: Scheduler,
		private readonly tally: (fault: string) => void,
	) {
		this.service = scheduler.process('push service');
	}

	/** Starts the real `Pusher` in this process. */
	async startPusher(process: Process, { report, ...parts }: PusherOf): Promise<void> {
		const pusher = new Pusher({
			...parts.store,
			...parts,
			providers: { apns: this.providerFor(process) },
			watch: { degraded: () => undefined, recovered: () => undefined },
			delayMs: DELAY_MS,
			pollEveryMs: POLL_MS,
			nowMs: () => Date.now(),
			random: Math.random,
			newLease: () => newId('L', (count) => crypto.getRandomValues(new Uint8Array(count))),
			report: (error) => report(error, 'push'),
		});
		await pusher.start();
	}

	private providerFor(process: Process): PushProvider {
		return {
			notify: (device, { message }) =>
				this.ask(process, () => {
					const key = keyOf(message.conversation, message.ts);
					this.scheduler.note(`shows ${device.user} ${key}`);
					this.scheduler.reached('notified a phone');
					setOf(this.shown, device.user).add(key);
					setOf(this.notified, device.user).add(key);
				}),
			withdraw: (device, { messages }) =>
				this.ask(process, () => {
					this.scheduler.reached('withdrew a notification');
					for (const { conversation, ts } of messages)
						setOf(this.shown, device.user).delete(keyOf(conversation, ts));
				}),
			check: async () => null,
			close: () => undefined,
		};
	}

	private ask(process: Process, act: () => void): Promise<PushOutcome> {
		const { scheduler, faults } = this;
		const delay = (): number => scheduler.latency(0.5, faults.slowest);
		return new Promise((resolve) => {
			scheduler.at(this.service, delay(), '', () => {
				const isBusy = scheduler.random.chance(faults.busy);
				const isLost = scheduler.random.chance(faults.lostAnswer);
				if (isBusy) this.tally('busy push service');
				else act();
				if (isLost) this.tally('lost answer of the push service');
				const outcome: PushOutcome = isLost
					? { type: 'unavailable', error: 'no answer' }
					: isBusy
						? { type: 'busy', error: 'not now' }
						: { type: 'accepted' };
				scheduler.at(process, delay(), '', () => resolve(outcome));
			});
		});
	}

	/** The first violated rule; null: none. */
	mismatch(oracle: Oracle, users: readonly string[], posted: readonly Posted[]): string | null {
		for (const user of users)
			for (const key of this.shown.get(user) ?? []) {
				const [conversation = '', ts] = key.split(' ');
				const why = reasonAgainst(oracle, user, conversation, Number(ts));
				if (why) return `${OF_A_PHONE} ${user} shows ${key}: ${why}`;
			}
		for (const { conversation, ts, concerned } of posted)
			for (const user of concerned)
				if (!this.notified.get(user)?.has(keyOf(conversation, ts)))
					return `${OF_A_PHONE} ${user} was not notified of ${keyOf(conversation, ts)}`;
		return null;
	}
}

/** A message of the timeline, and the users who must have been notified of it. */
export interface Posted {
	readonly conversation: string;
	readonly ts: number;
	readonly concerned: readonly string[];
}

interface Done {
	readonly operation: Operation;
	readonly ts: number;
}

/**
 * Posts of a round with the members who must be notified: the post is unread for them afterwards, and in that round they did nothing that
 * could have marked it read or suppressed the notification.
 */
export function postedIn(
	oracle: Oracle,
	done: readonly Done[],
	focus: { readonly user: string; readonly conversation: string } | null,
): Posted[] {
	return done.flatMap(({ operation, ts }) => {
		if (operation.kind !== 'post') return [];
		const { conversation } = operation;
		const acted = new Set(
			done.flatMap(({ operation: other }) =>
				'user' in other && (!('conversation' in other) || other.conversation === conversation)
					? [other.user]
					: [],
			),
		);
		if (focus?.conversation === conversation) acted.add(focus.user);
		if (oracle.conversation(conversation).archived) return [];
		const concerned = oracle
			.members(conversation)
			.filter(
				(user) =>
					!acted.has(user) &&
					oracle.conversation(conversation).memberships.get(user)?.muted === false &&
					oracle.unreads(user, conversation).includes(ts),
			);
		return [{ conversation, ts, concerned }];
	});
}

/** Why a phone must not show the message; null: it may. */
function reasonAgainst(oracle: Oracle, user: string, id: string, ts: number): string | null {
	const conversation = oracle.conversation(id);
	const message = conversation.messages.find((one) => one.ts === ts);
	const membership = conversation.memberships.get(user);
	if (!membership?.present) return 'not a member';
	if (conversation.archived) return 'archived';
	if (!message || message.deleted) return 'no such message';
	if (message.author === user) return 'their own message';
	const isInTimeline = message.threadTs === undefined || message.broadcast;
	const follows = message.threadTs !== undefined && conversation.followers.get(message.threadTs)?.has(user);
	if (membership.muted && !message.named.has(user)) return 'muted';
	if (!isInTimeline && !follows) return 'a reply in a thread that they do not follow';
	const isUnread =
		(isInTimeline && oracle.unreads(user, id).includes(ts)) ||
		(follows && ts > (conversation.followers.get(message.threadTs as number)?.get(user) ?? 0));
	return isUnread ? null : 'read';
}

function setOf(sets: Map<string, Set<string>>, key: string): Set<string> {
	const known = sets.get(key) ?? new Set();
	sets.set(key, known);
	return known;
}
