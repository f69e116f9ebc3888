import type { About } from '../engine/ports/bus.ts';
import type { CountRow, ThreadRow, ThreadTotals } from '../engine/ports/read-state.ts';
import type { Conversation } from '../model/conversation.ts';
import { formatRowPosition, formatTotalsVersion } from '../model/position.ts';
import { formatTs } from '../model/ts.ts';
import type { Effect, ThreadSummary } from '../sequencer/effects.ts';
import { changedEvent, createdChannel, joinedEvent, leftEvent } from './conversation-events.ts';
import { fileDeletions, sharedEvents } from './file-events.ts';
import { type LiveEvent, liveEvent, stamped } from './live-event.ts';
import { deletedEvent, editedEvent, messageEvent, repliedEvent } from './message-events.ts';
import { countFields, type JsonObject } from './objects.ts';
import { pinEvent } from './pin-events.ts';
import { reactionEvent } from './reaction-events.ts';

/** The events that sockets receive, in Slack's format. Pure functions from effects and counts to events. */

/** The receivers of an event. */
export type Audience =
	| { readonly to: 'members'; readonly except?: string }
	| { readonly to: 'team' }
	| { readonly to: 'user'; readonly user: string };

export interface Announcement {
	readonly audience: Audience;
	readonly event: LiveEvent;
	/** What the event means for counts. If a receiver gets several events of one change, only one of them has it. */
	readonly about?: About;
}

const MEMBERS: Audience = { to: 'members' };

const toMembers = (event: LiveEvent, about?: About): Announcement =>
	about ? { audience: MEMBERS, event, about } : { audience: MEMBERS, event };

const toOthers = (user: string, event: LiveEvent): Announcement => ({
	audience: { to: 'members', except: user },
	event,
});

const toUser = (user: string, event: LiveEvent, about?: About): Announcement => ({
	audience: { to: 'user', user },
	event,
	...(about ? { about } : {}),
});

/** Describes the changed message for counting. */
function aboutMessage(effect: Extract<Effect, { type: 'posted' | 'edited' | 'deleted' }>): About {
	const { ts, user, threadTs, broadcast, here } = effect.message;
	return {
		change: effect.type,
		conversation: effect.conversation.id,
		ts,
		author: user,
		threadTs,
		inTimeline: threadTs === null || broadcast,
		here,
	};
}

const typeLetter = (conversation: Conversation): string => (conversation.kind === 'public' ? 'C' : 'G');

export function announcementsOf(effect: Effect): Announcement[] {
	const { conversation, at } = effect;
	const channel = conversation.id;
	switch (effect.type) {
		case 'created':
			return created(effect);
		case 'posted':
			return posted(effect);
		case 'edited':
			return [
				toMembers(
					editedEvent(conversation, effect.message, effect.previous, effect.thread),
					aboutMessage(effect),
				),
				...fileDeletions(effect.message)
					.filter((deletion) => deletion.at === at)
					.map(({ event }) => toMembers(event)),
			];
		case 'deleted': {
			const event = deletedEvent(conversation, effect.message, effect.tombstone, effect.previous);
			const announced = toMembers(event, aboutMessage(effect));
			return effect.thread ? [announced, replied(conversation, effect.thread, at)] : [announced];
		}
		case 'pinned':
			return [toMembers(pinEvent({ ...effect, channel }))];
		case 'reacted':
			return [toMembers(reactionEvent({ ...effect, channel }))];
		case 'joined':
			return joined(effect);
		case 'left':
			return left(effect);
		case 'changed':
			return [toMembers(changedEvent(effect), aboutArchiving(effect))];
		case 'followed':
		case 'unfollowed': {
			const { threadTs, user } = effect;
			const lastRead = effect.type === 'followed' ? effect.cursor : 0;
			const thread = { conversation: channel, threadTs, since: at, lastRead };
			const event = effect.type === 'followed' ? threadSubscribedEvent : threadUnsubscribedEvent;
			return [toUser(user, event(thread, at), { change: 'threads' })];
		}
	}
}

/** A user who leaves gets a separate event: the one to the conversation may no longer reach them. */
function left({ conversation, at, user, actor }: Extract<Effect, { type: 'left' }>): Announcement[] {
	const event = liveEvent(conversation.id, `member ${user}`, at, {
		type: 'member_left_channel',
		user,
		channel: conversation.id,
		channel_type: typeLetter(conversation),
		team: conversation.team,
		...stamped(at),
	});
	return [
		toUser(user, leftEvent(conversation, at, actor), { change: 'membership', conversation: null }),
		toUser(user, event),
		toOthers(user, event),
	];
}

function created(effect: Extract<Effect, { type: 'created' }>): Announcement[] {
	const { conversation, at } = effect;
	const joined = effect.members.map((user) =>
		toUser(user, joinedEvent(conversation, user, { cursor: 0, latest: 0 }, at), {
			change: 'membership',
			conversation: conversation.id,
		}),
	);
	if (conversation.kind !== 'public') return joined;
	const event = liveEvent(conversation.id, 'created', at, {
		type: 'channel_created',
		channel: createdChannel(conversation),
		...stamped(at),
	});
	return [{ audience: { to: 'team' }, event }, ...joined];
}

/** If more users join together, members get one event with their number and the first users, instead of one event for each user. */
const MAX_SINGLE_ANNOUNCEMENTS = 100;

function joined(effect: Extract<Effect, { type: 'joined' }>): Announcement[] {
	const { conversation, at, users, inviter } = effect;
	const channel = conversation.id;
	const toJoined = (user: string) =>
		toUser(user, joinedEvent(conversation, user, effect, at), {
			change: 'membership',
			conversation: channel,
		});
	const shared = {
		channel,
		channel_type: typeLetter(conversation),
		team: conversation.team,
		...(inviter === null ? {} : { inviter }),
		...stamped(at),
	};
	if (users.length <= MAX_SINGLE_ANNOUNCEMENTS)
		return users.flatMap((user) => {
			const wire = { type: 'member_joined_channel', user, ...shared };
			const event = liveEvent(channel, `member ${user}`, at, wire);
			// A user who joins may not be subscribed to the conversation yet: send their event directly.
			return [toJoined(user), toUser(user, event), toOthers(user, event)];
		});
	const first = users.slice(0, MAX_SINGLE_ANNOUNCEMENTS);
	const added = { type: 'channel_members_added', count: users.length, users: first, ...shared };
	return [...users.map(toJoined), toMembers(liveEvent(channel, 'members', at, added))];
}

/** Archived conversations do not count; unarchiving restores their unread messages. */
function aboutArchiving({ what, conversation }: Extract<Effect, { type: 'changed' }>): About | undefined {
	if (what === 'archive') return { change: 'membership', conversation: null };
	return what === 'unarchive' ? { change: 'membership', conversation: conversation.id } : undefined;
}

function posted(effect: Extract<Effect, { type: 'posted' }>): Announcement[] {
	const { conversation, message, thread, at } = effect;
	const announced = [toMembers(messageEvent(effect), aboutMessage(effect))];
	if (thread) announced.push(replied(conversation, thread, at));
	if (message.extra !== null) for (const event of sharedEvents(message)) announced.push(toMembers(event));
	return announced;
}

const replied = (conversation: Conversation, thread: ThreadSummary, at: number): Announcement =>
	toMembers(repliedEvent(conversation, thread, at));

const MARKED_TYPE = {
	public: 'channel_marked',
	private: 'group_marked',
	mpim: 'mpim_marked',
	im: 'im_marked',
} as const;

/** The later of the two stamps of a row. */
const stampOf = ({ position }: Pick<CountRow, 'position'>): number =>
	Math.max(position.conversation, position.user);

/**
 * A cursor moved. Sent to every socket of the user.
 *
 * `asOf` is the user's stamp, which rises with each mark. The conversation's stamp would be wrong: a post may raise it above the stamp of
 * the user's next mark, and this event would look newer than the event of that mark.
 */
export function markedEvent(row: CountRow): LiveEvent {
	const mentionsShown = row.muted ? 0 : row.mentions;
	return liveEvent(row.conversation, 'marked', row.position.user, {
		type: MARKED_TYPE[row.kind],
		channel: row.conversation,
		ts: formatTs(row.lastRead),
		...countFields(row),
		num_mentions: row.mentions,
		num_mentions_display: mentionsShown,
		mention_count_display: mentionsShown,
		...(row.kind === 'im' ? { dm_count: row.unread } : {}),
		...(row.kind === 'mpim' || row.kind === 'private' ? { is_mpim: row.kind === 'mpim' } : {}),
		event_ts: formatTs(stampOf(row)),
	});
}

/** A conversation was muted or unmuted, or its notification level changed. */
export function preferenceEvent(row: CountRow): LiveEvent {
	return liveEvent(row.conversation, 'preference', row.position.user, {
		type: 'conversation_preference_changed',
		channel: row.conversation,
		...countFields(row),
		event_ts: formatTs(stampOf(row)),
	});
}

/** Slack's object for following a thread. */
export function wireSubscription(thread: Followed, active: boolean): JsonObject {
	return {
		type: 'thread',
		channel: thread.conversation,
		thread_ts: formatTs(thread.threadTs),
		date_create: Math.floor(thread.since / 1e6),
		active,
		last_read: formatTs(thread.lastRead),
	};
}

type Followed = Pick<ThreadRow, 'conversation' | 'threadTs' | 'since' | 'lastRead'>;

/** The user follows a thread: by choice, after writing in it, or after being named in a reply. */
export const threadSubscribedEvent = (thread: Followed, at: number): LiveEvent => following(thread, true, at);
export const threadUnsubscribedEvent = (thread: Followed, at: number): LiveEvent =>
	following(thread, false, at);

const following = (thread: Followed, active: boolean, at: number): LiveEvent =>
	liveEvent(thread.conversation, `follow ${thread.threadTs}`, at, {
		type: active ? 'thread_subscribed' : 'thread_unsubscribed',
		subscription: wireSubscription(thread, active),
		...stamped(at),
	});

/** The cursor of a thread moved. Sent to every socket of the user. */
export function threadMarkedEvent(row: ThreadRow): LiveEvent {
	return liveEvent(row.conversation, `read ${row.threadTs}`, row.position.user, {
		type: 'thread_marked',
		subscription: wireSubscription(row, true),
		unread_count: row.unread,
		mention_count: row.mentions,
		position: formatRowPosition(row.position),
		event_ts: formatTs(row.position.user),
	});
}

/** Counts that a client cannot derive from events; for sockets that requested such counts. */
export function countsUpdatedEvent(row: CountRow): JsonObject {
	return { type: 'unread_counts_updated', channel: row.conversation, ...countFields(row) };
}

/** Totals of all threads that a user follows. */
export const wireThreadTotals = ({ unread, mentions, badge, version }: ThreadTotals): JsonObject => ({
	has_unreads: unread > 0,
	unread_count: unread,
	mention_count: mentions,
	badge_count: badge,
	version: formatTotalsVersion(version),
});

export function threadStateEvent(threads: ThreadTotals, stamp: number): JsonObject {
	return {
		type: 'update_thread_state',
		...wireThreadTotals(threads),
		timestamp: formatTs(stamp),
		...stamped(stamp),
	};
}
