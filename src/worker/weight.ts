import type { Message } from '../model/message.ts';
import type { Effect } from '../sequencer/effects.ts';

/** Size of effects: in memory while they wait to be persisted, and as rows of a transaction. */

/** An effect with its message and the sequencer's state for it, without texts; measured, and rounded up. */
const EFFECT_BYTES = 1_024;
const ID_BYTES = 64;
/** JavaScript strings take one or two bytes per character. */
const CHARACTER_BYTES = 2;

export function heapBytesOf(effect: Effect): number {
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

/** About how many rows the effect writes, to limit transactions; without the rows of files and push. */
export function rowsOf(effect: Effect): number {
	switch (effect.type) {
		case 'posted':
		case 'edited':
		case 'deleted':
			return 1;
		case 'changed':
			return effect.conversation.name === effect.previous.name ? 2 : 4;
		default:
			// The conversation, and its name if it has one.
			return peopleIn(effect) + (effect.type === 'created' ? 2 : 1);
	}
}

const textBytes = ({ text, extra, named }: Message): number =>
	(text.length + (extra?.length ?? 0)) * CHARACTER_BYTES + named.length * ID_BYTES;

function peopleIn(effect: Effect): number {
	if (effect.type === 'created') return effect.members.length;
	return effect.type === 'joined' ? effect.users.length : 1;
}
