import { MAX_EMOJI, MAX_PER_USER, type Reaction, withoutUser, withUser } from '../model/reactions.ts';
import { type ActionOf, accept, type Decision, reject, rejectOutsider, type Situation } from './decision.ts';
import { reactedKey } from './state.ts';

/** Adds and removes reactions. They never change counts. */

const NOTHING: ReadonlySet<string> = new Set();
const NONE: ReadonlyMap<string, Reaction> = new Map();

export function decideReact(situation: Situation, action: ActionOf<'react'>): Decision {
	const { state, conversation, actor, at } = situation;
	const outsider = rejectOutsider(situation);
	if (outsider) return outsider;
	const message = state.messages.get(action.ts);
	if (!message || message.deleted) return reject('message_not_found');
	if (conversation.archived) return reject('is_archived');
	const { ts, name, added } = action;
	const reactions = state.reactions.get(ts) ?? NONE;
	const own = state.reacted.get(reactedKey(ts, actor)) ?? NOTHING;
	const before = reactions.get(name);
	const shared = { type: 'reacted', conversation, at, ts, name, user: actor, author: message.user } as const;
	if (!added) {
		if (!before || !own.has(name)) return reject('no_reaction');
		return accept({}, { ...shared, added, current: withoutUser(before, actor) });
	}
	if (own.has(name)) return reject('already_reacted');
	if (own.size >= MAX_PER_USER)
		return reject('too_many_reactions', `a user can add at most ${MAX_PER_USER} emoji to a message`);
	if (!before && reactions.size >= MAX_EMOJI)
		return reject('too_many_emoji', `a message can have at most ${MAX_EMOJI} different emoji`);
	return accept({}, { ...shared, added, current: withUser(before, name, actor, at) });
}
