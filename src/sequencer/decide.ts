import type { Command, Outcome } from './commands.ts';
import {
	decideAddMembers,
	decideCreate,
	decideInvite,
	decideJoin,
	decideKick,
	decideLeave,
} from './decide-members.ts';
import { decideDelete, decideEdit, decidePost, decideRemoveFile } from './decide-messages.ts';
import { decidePin } from './decide-pins.ts';
import { decideReact } from './decide-reactions.ts';
import { decideArchive, decideRename, decideTopicOrPurpose, decideUnarchive } from './decide-settings.ts';
import { decideFollow, decideFollowStatus, decideUnfollow } from './decide-threads.ts';
import { type Decision, reject, type Situation } from './decision.ts';
import { evolve } from './evolve.ts';
import { type ConversationState, stampOf } from './state.ts';

export type { Decision } from './decision.ts';

/**
 * The sequencer: decides what a command changes in a conversation. A pure function: the same state and command give
 * the same stamp, outcome and effects on every replay.
 */
export function decide(state: ConversationState, command: Command): Decision {
	const { head } = state;
	const { action } = command;
	if (action.type === 'create') return decideCreate(state, command, action);
	// A conversation of another workspace must look as if it did not exist.
	if (!head || head.conversation.team !== command.team) return reject('channel_not_found');
	const situation: Situation = {
		state,
		head,
		conversation: head.conversation,
		actor: command.actor,
		at: stampOf(head, command),
	};
	switch (action.type) {
		case 'post':
			return decidePost(situation, action);
		case 'edit':
			return decideEdit(situation, action);
		case 'delete':
			return decideDelete(situation, action);
		case 'remove_file':
			return decideRemoveFile(situation, action);
		case 'react':
			return decideReact(situation, action);
		case 'pin':
			return decidePin(situation, action);
		case 'join':
			return decideJoin(situation);
		case 'leave':
			return decideLeave(situation);
		case 'invite':
			return decideInvite(situation, action);
		case 'kick':
			return decideKick(situation, action);
		case 'add_members':
			return decideAddMembers(situation, action);
		case 'archive':
			return decideArchive(situation);
		case 'unarchive':
			return decideUnarchive(situation);
		case 'rename':
			return decideRename(situation, action);
		case 'set_topic':
			return decideTopicOrPurpose(situation, 'topic', action.value);
		case 'set_purpose':
			return decideTopicOrPurpose(situation, 'purpose', action.value);
		case 'follow':
			return decideFollow(situation, action);
		case 'unfollow':
			return decideUnfollow(situation, action);
		case 'follow_status':
			return decideFollowStatus(situation, action);
	}
}

/** Decides a command and applies its effects to the state. */
export function sequence(state: ConversationState, command: Command): Decision {
	const decision = decide(state, command);
	for (const effect of decision.effects) evolve(state, effect);
	return decision;
}

export type { Outcome };
