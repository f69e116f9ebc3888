import type { Conversation } from '../model/conversation.ts';
import type { ErrorCode } from '../model/errors.ts';
import type { Command, Outcome, Result } from './commands.ts';
import type { Effect } from './effects.ts';
import { type ConversationState, type Head, isMember } from './state.ts';

/** The input of every rule of the sequencer, and the two ways to answer: accept and reject. */

export interface Decision {
	readonly outcome: Outcome;
	readonly effects: readonly Effect[];
}

export interface Situation {
	readonly state: ConversationState;
	readonly head: Head;
	readonly conversation: Conversation;
	readonly actor: string;
	/** Stamp of the change, if the command changes anything. */
	readonly at: number;
}

export type ActionOf<T extends Command['action']['type']> = Extract<Command['action'], { type: T }>;

export const reject = (error: ErrorCode, detail?: string): Decision => ({
	outcome: { ok: false, error, ...(detail === undefined ? {} : { detail }) },
	effects: [],
});

export const accept = (result: Result, ...effects: readonly Effect[]): Decision => ({
	outcome: { ok: true, result },
	effects,
});

/** Non-members may learn that a public channel exists; every other conversation looks as if it did not exist. */
export function rejectOutsider({ state, conversation, actor }: Situation): Decision | undefined {
	if (isMember(state, actor)) return undefined;
	return reject(conversation.kind === 'public' ? 'not_in_channel' : 'channel_not_found');
}
