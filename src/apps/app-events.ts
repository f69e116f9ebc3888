import { createHash } from 'node:crypto';
import type { InsideChanges, MemberChange } from '../engine/ports/changes.ts';
import type { Conversation } from '../model/conversation.ts';
import { formatTs } from '../model/ts.ts';
import { fileDeletions, sharedEvents } from '../protocol/file-events.ts';
import type { JsonObject } from '../protocol/objects.ts';
import { pinEvent } from '../protocol/pin-events.ts';
import { reactionEvent } from '../protocol/reaction-events.ts';
import {
	aspectEvent,
	type MessageChange,
	messageChangeEvent,
	messageChangesOf,
} from '../protocol/stored-events.ts';
import type { ThreadSummary } from '../sequencer/effects.ts';

/**
 * Events for apps: a pure function of a conversation's stored changes, the app's bot and the app's subscriptions.
 * The same change gives the same event with the same id, at every gateway and on every read, so that apps can drop
 * duplicates.
 */

export interface AppEvent {
	/** `Ev…`, the same for the same change. */
	readonly id: string;
	/** What the app has a cursor for: a conversation, a user, or `created:C…` for a new channel. */
	readonly stream: string;
	/** Stamp of the change. */
	readonly at: number;
	/** In the format of Slack's Events API. */
	readonly event: JsonObject;
}

export interface StoredChanges extends InsideChanges {
	readonly conversation: Conversation;
	readonly memberChanges: readonly MemberChange[];
	/** By the ts of the root. */
	readonly threads: ReadonlyMap<number, ThreadSummary>;
}

export interface EventSubscriber {
	readonly app: string;
	readonly bot: string;
	/** Slack's names of the subscribed events, with the stamp of each subscription. */
	readonly names: ReadonlyMap<string, number>;
}

export function wants({ names }: Pick<EventSubscriber, 'names'>, name: string, at: number): boolean {
	const since = names.get(name);
	return since !== undefined && at > since;
}

const MESSAGE_NAME = {
	public: 'message.channels',
	private: 'message.groups',
	im: 'message.im',
	mpim: 'message.mpim',
} as const;

/** The events that an app can subscribe to; docs/apps.md lists them. */
export const DELIVERED_EVENTS: ReadonlySet<string> = new Set([
	...Object.values(MESSAGE_NAME),
	'app_mention',
	'app_home_opened',
	'file_deleted',
	'file_shared',
	'member_joined_channel',
	'member_left_channel',
	'reaction_added',
	'reaction_removed',
	'pin_added',
	'pin_removed',
	'channel_created',
	'team_join',
	'user_change',
	...['channel', 'group'].flatMap((family) =>
		['archive', 'unarchive', 'rename'].map((what) => `${family}_${what}`),
	),
]);

/** Whether the event comes from the store: an app without such subscriptions needs no dispatcher. */
export const isStoredEvent = (name: string): boolean =>
	DELIVERED_EVENTS.has(name) && name !== 'app_home_opened';

/** Ordered by stamp. */
export function appEventsOf(found: StoredChanges, subscriber: EventSubscriber): AppEvent[] {
	const events = [
		...messageChangesOf(found).flatMap((change) => messageEvents(found, change, subscriber)),
		...fileEvents(found, subscriber),
		...found.memberChanges.flatMap((change) => membershipEvents(found, change, subscriber)),
		...found.aspects.flatMap((aspect) => aspectEvents(found, aspect, subscriber)),
		...found.reactions.flatMap((reaction) => reactionEvents(found, reaction, subscriber)),
		...found.pins.flatMap((pin) => pinEvents(found, pin, subscriber)),
	];
	return events.sort((one, other) => one.at - other.at || (one.id < other.id ? -1 : 1));
}

/** Derived from the parts, never random: 16 characters of base 36. */
export function eventId(...parts: readonly (string | number)[]): string {
	const digest = createHash('sha256').update(parts.join('\n')).digest();
	const digits = BigInt(`0x${digest.toString('hex')}`)
		.toString(36)
		.toUpperCase();
	return `Ev${digits.slice(-16)}`;
}

function make(
	{ app }: EventSubscriber,
	conversation: string,
	at: number,
	what: string,
	{ position: _position, prev_ts: _prev, ...event }: JsonObject,
): AppEvent {
	return { id: eventId(app, conversation, at, what), stream: conversation, at, event };
}

function messageEvents(
	{ conversation, threads }: StoredChanges,
	change: MessageChange,
	subscriber: EventSubscriber,
): AppEvent[] {
	const { message, at, prevTs } = change;
	const thread = threads.get(message.threadTs ?? message.ts) ?? null;
	const { wire } = messageChangeEvent(change, conversation, thread);
	const isPosted = prevTs !== null;
	const events: AppEvent[] = [];
	if (wants(subscriber, MESSAGE_NAME[conversation.kind], at)) {
		const what = isPosted ? 'message' : `changed ${message.ts}`;
		const event = isPosted ? wire : { ...wire, channel_type: channelType(conversation) };
		events.push(make(subscriber, conversation.id, at, what, event));
	}
	const { channel_type: _type, subtype: _subtype, ...mention } = wire;
	const isMention = isPosted && message.named.includes(subscriber.bot) && conversation.kind !== 'im';
	if (isMention && wants(subscriber, 'app_mention', at))
		events.push(make(subscriber, conversation.id, at, 'mention', { ...mention, type: 'app_mention' }));
	return events;
}

function fileEvents(
	{ conversation, posted, changed }: StoredChanges,
	subscriber: EventSubscriber,
): AppEvent[] {
	const added = posted.map(({ message }) => message);
	const shared = added.flatMap((message) =>
		sharedEvents(message).map(({ wire }) =>
			make(subscriber, conversation.id, message.ts, `file_shared ${wire.file_id}`, wire),
		),
	);
	const present = [...added, ...changed.filter(({ deleted }) => !deleted)];
	const deleted = present.flatMap((message) =>
		fileDeletions(message).map(({ file, at, event }) =>
			make(subscriber, conversation.id, at, `file_deleted ${file}`, event.wire),
		),
	);
	return [
		...shared.filter(({ at }) => wants(subscriber, 'file_shared', at)),
		...deleted.filter(({ at }) => wants(subscriber, 'file_deleted', at)),
	];
}

const channelType = ({ kind }: Conversation): string =>
	({ public: 'channel', private: 'group', im: 'im', mpim: 'mpim' })[kind];

function membershipEvents(
	{ conversation }: StoredChanges,
	{ user, joined, at }: MemberChange,
	subscriber: EventSubscriber,
): AppEvent[] {
	const type = joined ? 'member_joined_channel' : 'member_left_channel';
	if (!wants(subscriber, type, at)) return [];
	const event = {
		type,
		user,
		channel: conversation.id,
		channel_type: conversation.kind === 'public' ? 'C' : 'G',
		team: conversation.team,
		event_ts: formatTs(at),
	};
	return [make(subscriber, conversation.id, at, `${type} ${user}`, event)];
}

function aspectEvents(
	{ conversation }: StoredChanges,
	change: InsideChanges['aspects'][number],
	subscriber: EventSubscriber,
): AppEvent[] {
	const { wire } = aspectEvent(conversation, change);
	if (!wants(subscriber, String(wire.type), change.at)) return [];
	return [make(subscriber, conversation.id, change.at, String(wire.type), wire)];
}

function reactionEvents(
	{ conversation }: StoredChanges,
	reaction: InsideChanges['reactions'][number],
	subscriber: EventSubscriber,
): AppEvent[] {
	const { wire } = reactionEvent({ ...reaction, channel: conversation.id });
	if (!wants(subscriber, String(wire.type), reaction.at)) return [];
	const what = `${wire.type} ${reaction.ts} ${reaction.name} ${reaction.user}`;
	return [make(subscriber, conversation.id, reaction.at, what, wire)];
}

function pinEvents(
	{ conversation }: StoredChanges,
	pin: InsideChanges['pins'][number],
	subscriber: EventSubscriber,
): AppEvent[] {
	const { wire } = pinEvent({ ...pin, channel: conversation.id });
	if (!wants(subscriber, String(wire.type), pin.at)) return [];
	return [make(subscriber, conversation.id, pin.at, `${wire.type} ${pin.ts}`, wire)];
}
