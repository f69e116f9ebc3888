import type { Conversation, Counts, Explanation, Message, Reaction, SharedFile, User } from './types.ts';

/** Converts objects of Slack's wire format to the SDK's types. */

// biome-ignore lint/suspicious/noExplicitAny: frames and answers are read field by field
export type Wire = any;

export const NEVER = '0000000000.000000';

/** Counts as the server sent them. */
export interface ReceivedCounts extends Counts {
	/** The stamp of the conversation, then that of the user's read state, 16 digits each. A later position sorts after. */
	readonly position: string;
}

export const toCounts = (row: Wire): ReceivedCounts => ({
	lastRead: row.last_read,
	// In conversation objects `latest` is a message, as in Slack.
	latest: row.latest_ts ?? row.latest,
	hasUnreads: row.has_unreads,
	unreadCount: row.unread_count,
	unreadCountDisplay: row.unread_count_display,
	mentionCount: row.mention_count,
	badgeCount: row.badge_count,
	isMuted: row.is_muted,
	notificationLevel: row.notification_level,
	revision: row.revision ?? 0,
	isCapped: row.unread_count_is_capped ?? false,
	position: row.position,
});

/** A conversation without its counts. */
export type Description = Omit<Conversation, keyof Counts | 'preview'>;

export function toDescription(channel: Wire): Description {
	const { is_im: isIm, is_mpim: isMpim, is_private: isPrivate } = channel;
	return {
		id: channel.id,
		kind: isIm ? 'im' : isMpim ? 'mpim' : isPrivate ? 'private' : 'public',
		name: isIm || isMpim ? '' : (channel.name ?? ''),
		user: channel.user ?? null,
		members: channel.members ?? [],
		topic: channel.topic?.value ?? '',
		purpose: channel.purpose?.value ?? '',
		creator: channel.creator ?? '',
		created: channel.created ?? 0,
	};
}

/** For a conversation whose counts arrived before its description: derived from its id. */
export const emptyDescription = (id: string): Description =>
	toDescription({ id, is_im: id.startsWith('D'), is_mpim: id.startsWith('G') });

export const toMessage = (message: Wire, channel: string): Message => ({
	channel,
	ts: message.ts,
	user: message.user ?? '',
	username: message.username ?? null,
	iconEmoji: message.icons?.emoji?.replaceAll(':', '') ?? null,
	iconUrl: message.icons?.image_48 ?? null,
	isMe: message.subtype === 'me_message',
	// The server sends a text for clients that do not know tombstones. This SDK has `isTombstone` instead.
	text: message.subtype === 'tombstone' ? '' : (message.text ?? ''),
	status: 'sent',
	error: null,
	clientMsgId: message.client_msg_id ?? null,
	threadTs: message.thread_ts ?? null,
	isBroadcast: message.subtype === 'thread_broadcast',
	isTombstone: message.subtype === 'tombstone',
	edited: message.edited?.ts ?? null,
	replyCount: message.reply_count ?? 0,
	replyUsers: message.reply_users ?? [],
	latestReply: message.latest_reply ?? null,
	reactions: message.reactions?.map(toReaction) ?? NO_REACTIONS,
	isPinned: message.pinned_to !== undefined,
	files: message.files?.map(toFile) ?? NO_FILES,
	blocks: message.blocks ?? null,
	attachments: message.attachments ?? null,
	metadata: message.metadata ?? null,
});

const NO_REACTIONS: readonly Reaction[] = [];
const NO_FILES: readonly SharedFile[] = [];

export const toFile = (file: Wire): SharedFile => ({
	id: file.id,
	isDeleted: file.mode === 'tombstone',
	name: file.name ?? '',
	title: file.title ?? file.name ?? '',
	mimetype: file.mimetype ?? '',
	filetype: file.filetype ?? '',
	size: file.size ?? 0,
	user: file.user ?? '',
	created: file.created ?? 0,
	altText: file.alt_txt ?? '',
	width: file.original_w ?? 0,
	height: file.original_h ?? 0,
});

const toReaction = ({ name, count, users, first_ts: since }: Wire): Reaction => ({
	name,
	count,
	users,
	since,
});

/** Applies a pin event, or a reaction event, which carries the new count of its emoji. `self`: the user of this client. */
export function withReactionOrPin(message: Message, event: Wire, self: string): Message {
	if (PINS.includes(event.type)) return { ...message, isPinned: event.type === 'pin_added' };
	return withReaction(message, event, self);
}

function withReaction(message: Message, { type, user, current }: Wire, self: string): Message {
	const received = toReaction(current);
	const others = message.reactions.filter(({ name }) => name !== received.name);
	if (received.count === 0) return { ...message, reactions: others };
	const known = message.reactions.find(({ name }) => name === received.name);
	// All users get the same event, so its list of users may be cut off before the user of this client. In an
	// answer, the list includes that user, if they have reacted.
	const isOwn = user === self ? type === 'reaction_added' : known?.users.includes(self);
	const isCut = received.count > received.users.length && !received.users.includes(self);
	const users = isOwn && isCut ? [...received.users, self] : received.users;
	const reactions = [...others, { ...received, users }].sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
	return { ...message, reactions };
}

const orderOf = ({ since, name }: Reaction): string => `${since} ${name}`;

const REACTIONS = ['reaction_added', 'reaction_removed'];
const PINS = ['pin_added', 'pin_removed'];

/** Whether an event is about a reaction or a pin. */
export const isReactionOrPin = ({ type }: Wire): boolean => REACTIONS.includes(type) || PINS.includes(type);

/** The ts of the message that a reaction or pin event is about. */
export const targetTs = ({ item }: Wire): string => item.ts ?? item.message.ts;

/** Copies reactions and pin from the known message: the events of posts and edits do not carry them. */
export const keepReactions = (message: Message, known: Message): Message => ({
	...message,
	reactions: known.reactions,
	isPinned: known.isPinned,
});

/** As the server describes a deleted root. */
const TOMBSTONE = { subtype: 'tombstone', user: 'USLACKBOT' };

/** What remains of a deleted root: its place and its thread. */
export const tombstoneOf = (message: Message): Message => ({
	...toMessage({ ...TOMBSTONE, ts: message.ts }, message.channel),
	threadTs: message.threadTs,
	replyCount: message.replyCount,
	replyUsers: message.replyUsers,
	latestReply: message.latestReply,
});

/** Copies the thread fields of `source` to the message. Returns `source` itself if it is a tombstone. */
export const withThread = (message: Message, source: Message): Message =>
	source.isTombstone
		? source
		: {
				...message,
				threadTs: source.threadTs,
				replyCount: source.replyCount,
				replyUsers: source.replyUsers,
				latestReply: source.latestReply,
			};

export const toUser = (user: Wire): User => ({
	id: user.id,
	name: user.name,
	realName: user.real_name || user.name,
	isBot: user.is_bot ?? false,
	isDeleted: user.deleted ?? false,
	photo: user.profile?.image_192 || null,
});

export const toExplanation = (answer: Wire): Explanation => ({
	badge: answer.badge,
	hasMore: answer.has_more ?? false,
	items: answer.items.map((item: Wire) => ({
		channel: item.channel,
		ts: item.ts,
		threadTs: item.thread_ts ?? null,
		user: item.user,
		text: item.text,
		reasons: item.reasons,
	})),
});
