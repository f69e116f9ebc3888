import { MAX_PINS } from '../model/pins.ts';
import { type ActionOf, accept, type Decision, reject, rejectOutsider, type Situation } from './decision.ts';

/** Any member can pin and unpin a message. */
export function decidePin(situation: Situation, action: ActionOf<'pin'>): Decision {
	const { state, conversation, actor, at } = situation;
	const outsider = rejectOutsider(situation);
	if (outsider) return outsider;
	const message = state.messages.get(action.ts);
	if (!message || message.deleted) return reject('message_not_found');
	if (conversation.archived) return reject('is_archived');
	const { ts, added } = action;
	const pins = state.pins ?? new Map();
	if (added && pins.has(ts)) return reject('already_pinned');
	if (!added && !pins.has(ts)) return reject('no_pin');
	if (added && pins.size >= MAX_PINS)
		return reject('too_many_pins', `a conversation can have at most ${MAX_PINS} pins`);
	const count = pins.size + (added ? 1 : -1);
	const { user: author } = message;
	// Enough for the 200 characters that the event carries, at two UTF-16 units each.
	const text = message.text.slice(0, 400);
	return accept({}, { type: 'pinned', conversation, at, ts, author, text, user: actor, added, count });
}
