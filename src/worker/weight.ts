import type { Message } from '../model/message.ts';
import type { Effect } from '../sequencer/effects.ts';

/** What the effects of commands come to: in memory while they wait to be written, and in the transaction that does it. */

/** Of an effect with its message and what the sequencer keeps for it, texts apart; measured, and rounded up. */
const EFFECT_BYTES = 1_024;
/** An id in a list. */
const ID_BYTES = 64;
/** Texts are kept with one byte a character or with two. */
const CHARACTER_BYTES = 2;

export function bytesOf(effect: Effect): number {
	switch (effect.type) {
		case 'posted':
			return EFFECT_BYTES + textBytes(effect.message);
		case 'edited':
		case 'deleted':
			return EFFECT_BYTES + textBytes(effect.message) + textBytes(effect.previous);
		default:
			return EFFECT_BYTES + peopleIn(effect) * ID_BYTES;
	}
}

/** Those of push, which are one more for a message at most, are not counted. */
export function rowsOf(effect: Effect): number {
	switch (effect.type) {
		case 'posted':
		case 'edited':
		case 'deleted':
			return 1;
		case 'changed':
			return effect.conversation.name === effect.previous.name ? 2 : 4;
		default:
			// The conversation, and a name that it may have been given.
			return peopleIn(effect) + (effect.type === 'created' ? 2 : 1);
	}
}

const textBytes = ({ text, extra, named }: Message): number =>
	(text.length + (extra?.length ?? 0)) * CHARACTER_BYTES + named.length * ID_BYTES;

function peopleIn(effect: Effect): number {
	if (effect.type === 'created') return effect.members.length;
	return effect.type === 'joined' ? effect.users.length : 1;
}
