import type { CountRow } from '../engine/ports/read-state.ts';
import type { Profile, ThreadInfo, User } from '../engine/ports/store.ts';
import { type ChannelText, type Conversation, isGeneral } from '../model/conversation.ts';
import { isDirect, SLACKBOT_ID } from '../model/ids.ts';
import type { Message } from '../model/message.ts';
import { formatRowPosition } from '../model/position.ts';
import { formatTs } from '../model/ts.ts';
import { ANY_ORIGIN } from './addresses.ts';

/** Slack's objects, built from ours. Pure: a message looks the same in responses and events. */

export type Json =
	| string
	| number
	| boolean
	| null
	| readonly Json[]
	| { readonly [key: string]: Json | undefined };
export type JsonObject = { readonly [key: string]: Json | undefined };
/** Belongs to the caller of the function that returns it, who may add fields. */
export type NewJsonObject = { [key: string]: Json | undefined };

export const isJsonObject = (value: unknown): value is JsonObject =>
	typeof value === 'object' && value !== null && !Array.isArray(value);

/** Null: the text is not JSON, or is another JSON value. */
export function parseJsonObject(text: string): JsonObject | null {
	try {
		const value: unknown = JSON.parse(text);
		return isJsonObject(value) ? value : null;
	} catch {
		return null;
	}
}

/** The author that clients see; a deleted message no longer shows its author. */
export const authorOf = (message: Pick<Message, 'user' | 'deleted'>): string =>
	message.deleted ? SLACKBOT_ID : message.user;

/** The username that a bot set for the message, for short listings. */
export function usernameField({ extra }: Pick<Message, 'extra'>): JsonObject {
	if (!extra?.includes('"username"')) return {};
	const { username } = JSON.parse(extra) as JsonObject;
	return username === undefined ? {} : { username };
}

export function wireMessage(message: Message, team: string, thread?: ThreadInfo): NewJsonObject {
	const ts = formatTs(message.ts);
	if (message.deleted) {
		return {
			type: 'message',
			subtype: 'tombstone',
			user: authorOf(message),
			text: 'This message was deleted.',
			hidden: true,
			ts,
			team,
			...(thread ? threadFields(thread) : {}),
		};
	}
	const { user, text, clientMsgId, extra, broadcast, editedTs, threadTs } = message;
	// Assignments, because conditional spreads are slow and every post comes through here.
	let wire: NewJsonObject = { type: 'message', user, text, ts, team };
	if (clientMsgId !== null) wire.client_msg_id = clientMsgId;
	if (extra !== null) wire = { ...wire, ...(JSON.parse(extra) as JsonObject) };
	// For a broadcast reply that a bot posts under another name, thread_broadcast wins.
	if (broadcast) wire.subtype = 'thread_broadcast';
	if (editedTs !== null) wire.edited = { user, ts: formatTs(editedTs) };
	if (threadTs !== null) wire.thread_ts = formatTs(threadTs);
	return thread ? { ...wire, ...threadFields(thread) } : wire;
}

/** Fields of a root that has replies. */
function threadFields(thread: ThreadInfo): JsonObject {
	return {
		thread_ts: formatTs(thread.threadTs),
		reply_count: thread.replyCount,
		reply_users: thread.replyUsers,
		reply_users_count: thread.replyUsersCount,
		latest_reply: formatTs(thread.latestReply),
	};
}

const wireChannelText = (text: ChannelText): JsonObject => ({
	value: text.value,
	creator: text.creator,
	last_set: text.lastSet,
});

/** The relation of the caller to a conversation. */
export interface Viewer {
	readonly user: string;
	/** Null: the caller is not a member, the conversation is archived, or the row is unavailable or was not requested. */
	readonly row: CountRow | null;
	readonly isMember: boolean;
	/** The newest message, for direct messages. */
	readonly latestMessage?: JsonObject | null;
}

/** Slack gives a group message a purpose that lists its members; slackdump shows only that. */
function purposeOf({ kind, name, creator, createdTs, purpose }: Conversation): ChannelText {
	if (kind !== 'mpim' || purpose.lastSet > 0) return purpose;
	const people = name.replace(/^mpdm-|-\d+$/g, '').split('--');
	const value = `Group messaging with: ${people.map((person) => `@${person}`).join(' ')}`;
	return { value, creator, lastSet: Math.floor(createdTs / 1e6) };
}

export function wireConversation(conversation: Conversation, viewer: Viewer): JsonObject {
	const { kind } = conversation;
	const shared = {
		id: conversation.id,
		created: Math.floor(conversation.createdTs / 1e6),
		creator: conversation.creator,
		updated: Math.floor(conversation.changedTs / 1e3),
		is_im: kind === 'im',
		is_mpim: kind === 'mpim',
		is_archived: conversation.archived,
		is_org_shared: false,
		context_team_id: conversation.team,
		...(viewer.row ? memberFields(viewer.row) : {}),
	};
	if (kind === 'im') {
		return {
			...shared,
			user: conversation.people.find((user) => user !== viewer.user) ?? viewer.user,
			is_open: true,
			is_user_deleted: false,
			priority: 0,
			...(viewer.latestMessage === undefined ? {} : { latest: viewer.latestMessage }),
		};
	}
	return {
		...shared,
		name: conversation.name,
		name_normalized: conversation.name,
		is_channel: kind === 'public',
		// Slack counts group messages among the groups.
		is_group: kind === 'private' || kind === 'mpim',
		is_private: kind !== 'public',
		is_general: isGeneral(conversation),
		is_member: viewer.isMember,
		is_shared: false,
		is_ext_shared: false,
		is_pending_ext_shared: false,
		pending_shared: [],
		pending_connected_team_ids: [],
		shared_team_ids: [conversation.team],
		parent_conversation: null,
		unlinked: 0,
		topic: wireChannelText(conversation.topic),
		purpose: wireChannelText(purposeOf(conversation)),
		previous_names: conversation.previousNames,
		...(isDirect(kind) ? { is_open: true, members: conversation.people } : {}),
	};
}

/**
 * The counts of a member in a conversation object. There, Slack's `latest` is the newest message as an object, and
 * typed clients expect an object: so the ts of that message is in `latest_ts`.
 */
function memberFields(row: CountRow): JsonObject {
	const { latest, ...counts } = countFields(row);
	return { ...counts, latest_ts: latest };
}

/** The counts of a member, as rows and events carry them. */
export function countFields(row: CountRow): JsonObject {
	return {
		last_read: formatTs(row.lastRead),
		latest: formatTs(row.latest),
		has_unreads: row.unread > 0,
		unread_count: row.unread,
		unread_count_display: row.unreadDisplay,
		mention_count: row.mentions,
		badge_count: row.badge,
		is_muted: row.muted,
		notification_level: row.level,
		revision: row.revision,
		position: formatRowPosition(row.position),
		...(row.capped ? { unread_count_is_capped: true } : {}),
	};
}

export const PHOTO_PATH = '/photos/';

/** One size for all fields: clients scale it. Users without a photo have empty fields. */
function imageFields({ photo = '' }: Profile): JsonObject {
	const url = photo === '' ? '' : `${ANY_ORIGIN}${PHOTO_PATH}${photo}`;
	return {
		image_24: url,
		image_32: url,
		image_48: url,
		image_72: url,
		image_192: url,
		image_512: url,
		...(photo === '' ? {} : { image_original: url, is_custom_image: true }),
	};
}

/** `at`, in micros: a status that expired before is not shown. */
export function wireUser(user: User, at: number): JsonObject {
	return {
		id: user.id,
		team_id: user.team,
		name: user.name,
		real_name: user.realName,
		deleted: user.deleted,
		is_bot: user.isBot,
		is_admin: false,
		is_owner: false,
		is_primary_owner: false,
		is_restricted: false,
		is_ultra_restricted: false,
		is_app_user: false,
		tz: 'Etc/UTC',
		tz_label: 'Coordinated Universal Time',
		tz_offset: 0,
		updated: Math.floor(user.updatedTs / 1e6),
		profile: wireProfile(user, at),
	};
}

export function wireProfile(user: User, at: number): JsonObject {
	const { profile } = user;
	const displayName = profile.display_name || user.name;
	return {
		real_name: user.realName,
		real_name_normalized: user.realName,
		display_name: displayName,
		display_name_normalized: displayName,
		title: profile.title ?? '',
		phone: profile.phone ?? '',
		pronouns: profile.pronouns ?? '',
		...statusFields(profile, at),
		team: user.team,
		email: user.email,
		...imageFields(profile),
		...(user.isBot ? { bot_id: botIdOf(user) } : {}),
	};
}

function statusFields({ status_text = '', status_emoji = '', status_expiration = 0 }: Profile, at: number) {
	const isExpired = status_expiration > 0 && status_expiration * 1e6 <= at;
	return isExpired
		? { status_text: '', status_emoji: '', status_expiration: 0 }
		: { status_text, status_emoji, status_expiration };
}

/** The bot id, separate from the user id, as Slack's applications expect. */
export const botIdOf = (user: Pick<User, 'id'>): string => `B${user.id.slice(1)}`;
