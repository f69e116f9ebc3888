import { withoutFile } from '../model/files.ts';
import { parseMentions } from '../model/mentions.ts';
import { inTimeline, type Message } from '../model/message.ts';
import { type Content, MAX_EXTRA_BYTES } from './commands.ts';
import { type ActionOf, accept, type Decision, reject, rejectOutsider, type Situation } from './decision.ts';
import type { Effect } from './effects.ts';
import { REPEAT_WINDOW_MICROS } from './sends-seen.ts';
import { isMember, sendKey } from './state.ts';
import { followsOfEdit, followsOfReply, hasReplies, rootOf, summaryOf } from './threads.ts';

/** Posting, editing and deleting. */

export function decidePost(situation: Situation, action: ActionOf<'post'>): Decision {
	const { state, head, conversation, actor, at } = situation;
	const outsider = action.asGuest ? undefined : rejectOutsider(situation);
	if (outsider) return outsider;
	const first = repeatedSend(situation, action.clientMsgId);
	if (first) return accept({ ...withParent(first, parentOf(situation, first)), repeated: true });
	if (conversation.archived) return reject('is_archived');
	if (isEmpty(action.content)) return reject('no_text');
	const root = parentOf(situation, action);
	if (action.threadTs !== null) {
		const problem = checkRoot(situation, root);
		if (problem) return problem;
	}

	const mentions = parseMentions(action.content.text);
	const message: Message = {
		conversation: conversation.id,
		ts: at,
		user: actor,
		text: action.content.text,
		threadTs: action.threadTs,
		broadcast: action.threadTs !== null && action.broadcast,
		clientMsgId: action.clientMsgId,
		named: mentions.users.filter((user) => isMember(state, user)),
		channelWide: mentions.channelWide,
		here: mentions.here,
		editedTs: null,
		changedTs: at,
		deleted: false,
		extra: action.content.extra,
	};
	const posted: Effect = {
		type: 'posted',
		conversation,
		at,
		message,
		prevTs: inTimeline(message) ? (head.tail.at(-1) ?? null) : null,
		thread: root && summaryOf(state, root, { added: message }),
	};
	if (!root) return accept({ message }, posted);
	const follows = followsOfReply(situation, root, message);
	return accept(withParent(message, root), ...follows.before, posted, ...follows.after);
}

/** Includes the root's author for the answer, so that the gateway needs no lookup. */
const withParent = (message: Message, root: Message | null) =>
	root ? { message, parentUser: root.user } : { message };

const parentOf = (
	{ state }: Situation,
	{ threadTs }: { readonly threadTs: number | null },
): Message | null => (threadTs === null ? null : (state.messages.get(threadTs) ?? null));

function repeatedSend({ state, actor, at }: Situation, clientMsgId: string | null): Message | undefined {
	if (clientMsgId === null) return undefined;
	const ts = state.sends.get(sendKey(actor, clientMsgId));
	if (typeof ts !== 'number' || at - ts > REPEAT_WINDOW_MICROS) return undefined;
	return state.messages.get(ts) ?? undefined;
}

function checkRoot({ state }: Situation, root: Message | null): Decision | undefined {
	if (!root) return reject('thread_not_found');
	if (root.threadTs !== null) return reject('cannot_reply_to_message');
	return rootOf(state, root.ts) ? undefined : reject('thread_not_found');
}

export function decideEdit(situation: Situation, action: ActionOf<'edit'>): Decision {
	const { state, conversation, actor, at } = situation;
	const outsider = action.asGuest ? undefined : rejectOutsider(situation);
	if (outsider) return outsider;
	const previous = state.messages.get(action.ts);
	if (!previous || previous.deleted) return reject('message_not_found');
	if (previous.user !== actor) return reject('cant_update_message');
	if (conversation.archived) return reject('is_inactive');
	const { text } = action.content;
	const extra = extraAfter(action, previous);
	if (isEmpty({ text, extra })) return reject('no_text');
	if (extra !== null && Buffer.byteLength(extra) > MAX_EXTRA_BYTES) return reject('msg_blocks_too_long');

	const mentions = parseMentions(text);
	const message: Message = {
		...previous,
		text,
		extra,
		// A user who was named as a member and has left stays named while the text names them.
		named: mentions.users.filter((user) => isMember(state, user) || previous.named.includes(user)),
		channelWide: mentions.channelWide,
		here: mentions.here,
		editedTs: at,
		changedTs: at,
	};
	const thread = threadOfReply(situation, previous, {}) ?? threadOfRoot(situation, message);
	const edited: Effect = { type: 'edited', conversation, at, message, previous, thread };
	return accept({ message, thread }, edited, ...followsOfEdit(situation, message, previous));
}

/** The new `extra`, plus the fields of the old one that the edit keeps. */
function extraAfter({ content, keep = [] }: ActionOf<'edit'>, previous: Message): string | null {
	const had = fieldsOf(previous.extra);
	const kept = keep.filter((name) => Object.hasOwn(had, name)).map((name) => [name, had[name]]);
	if (kept.length === 0) return content.extra;
	return JSON.stringify({ ...Object.fromEntries(kept), ...fieldsOf(content.extra) });
}

export function decideDelete(situation: Situation, action: ActionOf<'delete'>): Decision {
	const { state, conversation, actor, at } = situation;
	const outsider = action.asGuest ? undefined : rejectOutsider(situation);
	if (outsider) return outsider;
	const previous = state.messages.get(action.ts);
	if (!previous || previous.deleted) return reject('message_not_found');
	if (previous.user !== actor) return reject('cant_delete_message');
	const message: Message = {
		...previous,
		text: '',
		extra: null,
		named: [],
		channelWide: false,
		here: false,
		deleted: true,
		changedTs: at,
	};
	const tombstone = previous.threadTs === null && hasReplies(state, previous);
	const thread = threadOfReply(situation, previous, { removed: previous });
	return accept({ message }, { type: 'deleted', conversation, at, message, previous, tombstone, thread });
}

/**
 * Replaces a deleted file of a message with a tombstone. The gateway has checked that the actor may delete the file.
 * This is not an edit by the author: the message is not marked as edited, and counts stay the same.
 */
export function decideRemoveFile(situation: Situation, action: ActionOf<'remove_file'>): Decision {
	const { state, conversation, at } = situation;
	const previous = state.messages.get(action.ts);
	if (!previous || previous.deleted) return reject('message_not_found');
	const extra = withoutFile(previous.extra, action.file, at);
	if (extra === null) return accept({ unchanged: true });
	const message: Message = { ...previous, extra, changedTs: at };
	const thread = threadOfReply(situation, previous, {}) ?? threadOfRoot(situation, message);
	return accept({ message, thread }, { type: 'edited', conversation, at, message, previous, thread });
}

/** The thread of a reply, after the change. */
function threadOfReply({ state }: Situation, message: Message, change: { removed?: Message }) {
	const root = message.threadTs === null ? null : state.messages.get(message.threadTs);
	return root ? summaryOf(state, root, change) : null;
}

/** The thread of a root; null while it has no replies. */
function threadOfRoot({ state }: Situation, root: Message) {
	if (root.threadTs !== null) return null;
	const summary = summaryOf(state, root, {});
	return summary.replyCount > 0 ? summary : null;
}

const fieldsOf = (extra: string | null): Readonly<Record<string, unknown>> =>
	extra === null ? {} : JSON.parse(extra);

/** Metadata or bot fields alone show nothing to a reader. */
function isEmpty({ text, extra }: Content): boolean {
	if (text.trim() !== '') return false;
	const { blocks, attachments, files } = fieldsOf(extra);
	return blocks === undefined && attachments === undefined && files === undefined;
}
