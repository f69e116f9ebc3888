import type { Conversation } from '../model/conversation.ts';
import { formatTs } from '../model/ts.ts';
import type { Effect } from '../sequencer/effects.ts';
import { type LiveEvent, liveEvent, stamped } from './live-event.ts';
import { type JsonObject, wireConversation } from './objects.ts';

/** Events about conversations, the same for live delivery and for clients that resume. */

const JOINED_TYPE = {
	public: 'channel_joined',
	private: 'group_joined',
	mpim: 'mpim_joined',
	im: 'im_created',
} as const;

/** A new member has nothing unread, so the counts are known without reading them. */
export function joinedEvent(
	conversation: Conversation,
	user: string,
	start: { readonly cursor: number; readonly latest: number },
	at: number,
): LiveEvent {
	return liveEvent(conversation.id, 'membership', at, {
		type: JOINED_TYPE[conversation.kind],
		...(conversation.kind === 'im' ? { user } : {}),
		channel: {
			...wireConversation(conversation, { user, row: null, isMember: true }),
			last_read: formatTs(start.cursor),
			latest_ts: formatTs(start.latest),
			has_unreads: false,
			unread_count: 0,
			unread_count_display: 0,
			mention_count: 0,
			badge_count: 0,
			is_muted: false,
			notification_level: 'all',
		},
		...stamped(at),
	});
}

/** `actor` is known only for live delivery, not when a client resumes. */
export function leftEvent(conversation: Conversation, at: number, actor?: string): LiveEvent {
	return liveEvent(conversation.id, 'membership', at, {
		type: conversation.kind === 'public' ? 'channel_left' : 'group_left',
		channel: conversation.id,
		...(actor === undefined ? {} : { actor_id: actor }),
		...stamped(at),
	});
}

export type Changed = Pick<Extract<Effect, { type: 'changed' }>, 'conversation' | 'what' | 'actor' | 'at'>;

/** The name, topic or purpose changed, or the conversation was archived or unarchived. */
export function changedEvent({ conversation, what, actor, at }: Changed): LiveEvent {
	const channel = conversation.id;
	const family = conversation.kind === 'public' ? 'channel' : 'group';
	switch (what) {
		case 'archive':
		case 'unarchive':
			return liveEvent(channel, 'archive', at, {
				type: `${family}_${what}`,
				channel,
				user: actor,
				...stamped(at),
			});
		case 'rename':
			return liveEvent(channel, 'rename', at, {
				type: `${family}_rename`,
				channel: {
					id: channel,
					name: conversation.name,
					name_normalized: conversation.name,
					created: Math.floor(conversation.createdTs / 1e6),
				},
				...stamped(at),
			});
		case 'topic':
		case 'purpose':
			// Tidemark's own event: Slack posts a message to the timeline instead.
			return liveEvent(channel, what, at, {
				type: `${family}_${what}`,
				channel,
				user: actor,
				[what]: conversation[what].value,
				...stamped(at),
			});
	}
}

/** The channel in `channel_created`. */
export const createdChannel = ({ id, name, createdTs, creator, team }: Conversation): JsonObject => ({
	id,
	name,
	name_normalized: name,
	created: Math.floor(createdTs / 1e6),
	creator,
	is_channel: true,
	is_shared: false,
	is_org_shared: false,
	context_team_id: team,
});
