import { parseMentions } from '../model/mentions.ts';
import type { Command } from './commands.ts';
import type { ActionOf } from './decision.ts';
import { REPEAT_WINDOW_MICROS } from './sends-seen.ts';
import { type ConversationState, type Head, reactedKey, sendKey, stampOf } from './state.ts';

/** The state that has to be loaded before a command can be decided. */
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
 * The state that is still missing, or null if the command can be decided. Call it again after loading: the thread of a
 * message is known only once the message is loaded.
 */
export function missingNeeds(state: ConversationState, command: Command): Needs | null {
	const { head } = state;
	if (head === undefined) return { ...noNeeds(), head: true };
	if (head === null) return null;
	const need = new MissingState(state, head, command);
	need.member(command.actor);
	const { action } = command;
	switch (action.type) {
		case 'post':
			need.post(action);
			break;
		case 'edit':
			need.edit(action);
			break;
		case 'delete':
		case 'remove_file':
			need.message(action.ts);
			break;
		case 'react':
			need.message(action.ts);
			need.reactions(action.ts);
			break;
		case 'pin':
			need.message(action.ts);
			need.pins();
			break;
		case 'invite':
		case 'add_members':
			for (const user of action.users) need.member(user);
			break;
		case 'kick':
			need.member(action.user);
			break;
		case 'follow':
		case 'unfollow':
		case 'follow_status':
			need.message(action.threadTs);
			if (state.messages.get(action.threadTs)) need.follow(action.threadTs, command.actor);
			break;
	}
	return isEmpty(need.found) ? null : need.found;
}

/** Collects needs: each method adds a part of the state, unless it is already loaded. */
class MissingState {
	readonly found = noNeeds();

	constructor(
		private readonly state: ConversationState,
		private readonly head: Head,
		private readonly command: Command,
	) {
		// Deletes have emptied the tail, but older entries exist: prev_ts of the next message is unknown.
		if (head.tail.length === 0 && !head.tailIsAll) this.found.tail = true;
	}

	post({ content, threadTs, clientMsgId }: ActionOf<'post'>): void {
		const named = parseMentions(content.text).users;
		for (const user of named) this.member(user);
		if (clientMsgId !== null) this.send(clientMsgId);
		if (threadTs === null) return;
		this.message(threadTs);
		const root = this.state.messages.get(threadTs);
		if (!root) return;
		for (const user of [...named, this.command.actor, root.user]) this.follow(threadTs, user);
		this.member(root.user);
	}

	edit({ ts, content }: ActionOf<'edit'>): void {
		this.message(ts);
		const named = parseMentions(content.text).users;
		for (const user of named) this.member(user);
		const threadTs = this.state.messages.get(ts)?.threadTs;
		if (typeof threadTs === 'number') for (const user of named) this.follow(threadTs, user);
	}

	member(user: string): void {
		if (user !== '' && !this.state.members.has(user)) this.found.members.push(user);
	}

	/** A message and, if it is in a thread, the root and the replies. */
	message(ts: number): void {
		const { messages } = this.state;
		const known = messages.get(ts);
		if (known === undefined) this.found.messages.push(ts);
		if (!known) return;
		this.thread(known.threadTs ?? ts);
		if (known.threadTs !== null && !messages.has(known.threadTs)) this.found.messages.push(known.threadTs);
	}

	/** Whether the user follows the thread. */
	follow(threadTs: number, user: string): void {
		if (!this.thread(threadTs)) return;
		const known = this.state.threads.get(threadTs);
		if (!known?.followsKnown && !known?.follows.has(user)) this.found.follows.push({ threadTs, user });
	}

	reactions(ts: number): void {
		const user = this.command.actor;
		const isKnown = this.state.reactions.has(ts) && this.state.reacted.has(reactedKey(ts, user));
		if (!isKnown) this.found.reactions.push({ ts, user });
	}

	pins(): void {
		if (!this.state.pins) this.found.pins = true;
	}

	/** Returns whether the thread is loaded. */
	private thread(ts: number): boolean {
		if (this.state.threads.has(ts)) return true;
		if (!this.found.threads.includes(ts)) this.found.threads.push(ts);
		return false;
	}

	/** The earlier message with this id, unless there cannot be one. */
	private send(clientMsgId: string): void {
		const { state, head, command, found } = this;
		const user = command.actor;
		const key = sendKey(user, clientMsgId);
		const first = state.sends.get(key);
		if (typeof first === 'number') this.message(first);
		if (first !== undefined) return;
		// Inclusive: a send exactly as old as the window still counts.
		const after = stampOf(head, command) - REPEAT_WINDOW_MICROS - 1;
		if (!state.sendsSeen && state.sendLookups <= 0) found.sendsAfter = after;
		else if (state.sendsSeen?.mayHave(key, after) ?? true) found.sends.push({ user, clientMsgId });
	}
}

const noNeeds = (): Needs => ({
	members: [],
	messages: [],
	threads: [],
	follows: [],
	sends: [],
	reactions: [],
});

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
