import { parseMentions } from '../model/mentions.ts';
import type { Command } from './commands.ts';
import { REPEAT_WINDOW_MICROS } from './sends-seen.ts';
import { type ConversationState, reactedKey, sendKey, stampOf } from './state.ts';

/** What has to be loaded before a command can be decided. */
export interface Needs {
	head?: true;
	/** Older timeline entries. */
	tail?: true;
	members: string[];
	messages: number[];
	threads: number[];
	/** Follows of these users in these threads. */
	follows: { threadTs: number; user: string }[];
	sends: { user: string; clientMsgId: string }[];
	/** All reactions to these messages, and which of them are this user's. */
	reactions: { ts: number; user: string }[];
	pins?: true;
	/** All sends after this stamp. */
	sendsAfter?: number;
}

/**
 * What is missing in the state, or null if the command can be decided. Call it again after loading: only
 * a loaded message tells which thread it belongs to.
 */
export function missing(state: ConversationState, command: Command): Needs | null {
	const found: Needs = { members: [], messages: [], threads: [], follows: [], sends: [], reactions: [] };
	const { head } = state;
	if (head === undefined) return { ...found, head: true };
	if (head === null) return null;
	// Deletes have emptied the tail, but older entries exist: prev_ts of the next message is unknown.
	if (head.tail.length === 0 && !head.tailIsAll) found.tail = true;
	const member = (user: string) => {
		if (user !== '' && !state.members.has(user)) found.members.push(user);
	};
	const thread = (ts: number): boolean => {
		if (state.threads.has(ts)) return true;
		found.threads.push(ts);
		return false;
	};
	const follow = (threadTs: number, user: string) => {
		if (!thread(threadTs)) return;
		const known = state.threads.get(threadTs);
		if (!known?.followsKnown && !known?.follows.has(user)) found.follows.push({ threadTs, user });
	};
	/** A message and, if it is in a thread, the root and the replies. */
	const message = (ts: number): void => {
		const known = state.messages.get(ts);
		if (known === undefined) {
			found.messages.push(ts);
			return;
		}
		if (known === null) return;
		thread(known.threadTs ?? ts);
		if (known.threadTs !== null && !state.messages.has(known.threadTs)) found.messages.push(known.threadTs);
	};

	/** The earlier message with this id, unless there cannot be one. */
	const send = (clientMsgId: string): void => {
		const user = command.actor;
		const key = sendKey(user, clientMsgId);
		const first = state.sends.get(key);
		if (typeof first === 'number') message(first);
		if (first !== undefined) return;
		// Inclusive: a send exactly as old as the window still counts.
		const after = stampOf(head, command) - REPEAT_WINDOW_MICROS - 1;
		if (!state.sendsSeen && state.sendLookups <= 0) found.sendsAfter = after;
		else if (state.sendsSeen?.mayHave(key, after) ?? true) found.sends.push({ user, clientMsgId });
	};

	member(command.actor);
	const { action } = command;
	switch (action.type) {
		case 'post': {
			const named = parseMentions(action.content.text).users;
			for (const user of named) member(user);
			if (action.clientMsgId !== null) send(action.clientMsgId);
			if (action.threadTs !== null) {
				message(action.threadTs);
				const root = state.messages.get(action.threadTs);
				if (root) {
					for (const user of [...named, command.actor, root.user]) follow(action.threadTs, user);
					member(root.user);
				}
			}
			break;
		}
		case 'edit': {
			message(action.ts);
			const named = parseMentions(action.content.text).users;
			for (const user of named) member(user);
			const threadTs = state.messages.get(action.ts)?.threadTs;
			if (typeof threadTs === 'number') for (const user of named) follow(threadTs, user);
			break;
		}
		case 'delete':
		case 'remove_file':
			message(action.ts);
			break;
		case 'react': {
			const { ts } = action;
			message(ts);
			const isKnown = state.reactions.has(ts) && state.reacted.has(reactedKey(ts, command.actor));
			if (!isKnown) found.reactions.push({ ts, user: command.actor });
			break;
		}
		case 'pin':
			message(action.ts);
			if (!state.pins) found.pins = true;
			break;
		case 'invite':
		case 'add_members':
			for (const user of action.users) member(user);
			break;
		case 'kick':
			member(action.user);
			break;
		case 'follow':
		case 'unfollow':
		case 'follow_status':
			message(action.threadTs);
			if (state.messages.get(action.threadTs)) follow(action.threadTs, command.actor);
			break;
	}
	return isEmpty(found) ? null : found;
}

const isEmpty = (needs: Needs): boolean =>
	!needs.tail &&
	!needs.pins &&
	needs.sendsAfter === undefined &&
	needs.members.length === 0 &&
	needs.messages.length === 0 &&
	needs.threads.length === 0 &&
	needs.follows.length === 0 &&
	needs.sends.length === 0 &&
	needs.reactions.length === 0;
