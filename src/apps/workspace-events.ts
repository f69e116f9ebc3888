import type { UserChange } from '../engine/ports/workspace-changes.ts';
import type { Conversation } from '../model/conversation.ts';
import { formatTs } from '../model/ts.ts';
import { createdChannel } from '../protocol/conversation-events.ts';
import { teamJoinEvent, userChangeEvent } from '../protocol/user-events.ts';
import { type AppEvent, type EventSubscriber, eventId, wants } from './app-events.ts';

/**
 * Events of a workspace: its users and new channels. Like events of conversations, they are derived from stored
 * rows. Each user and each new channel is a stream with its own cursor, because rows of a workspace are not ordered: a
 * row may be written after one with a later stamp.
 */

export const WORKSPACE_EVENTS: readonly string[] = ['channel_created', 'team_join', 'user_change'];

export const wantsWorkspace = ({ names }: Pick<EventSubscriber, 'names'>): boolean =>
	WORKSPACE_EVENTS.some((name) => names.has(name));

/** Not the channel's id: conversations of the bot have a cursor under their id. */
const creationOf = (channel: string): string => `created:${channel}`;

export function channelEvent(conversation: Conversation, subscriber: EventSubscriber): AppEvent | null {
	const at = conversation.createdTs;
	if (!wants(subscriber, 'channel_created', at)) return null;
	return {
		id: eventId(subscriber.app, conversation.id, at, 'channel_created'),
		stream: creationOf(conversation.id),
		at,
		event: { type: 'channel_created', channel: createdChannel(conversation), event_ts: formatTs(at) },
	};
}

export function userEvent({ user, isNew }: UserChange, subscriber: EventSubscriber): AppEvent | null {
	const type = isNew ? 'team_join' : 'user_change';
	const at = user.updatedTs;
	if (!wants(subscriber, type, at)) return null;
	const event = isNew ? teamJoinEvent(user) : userChangeEvent(user, at);
	return { id: eventId(subscriber.app, user.id, at, type), stream: user.id, at, event };
}
