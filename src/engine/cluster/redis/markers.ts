import { SLOTS, slotOf, spreadTags } from './slots.ts';

/**
 * Markers of epochs: keys on every node that record since when its read state is complete, and which Redis process has
 * held it since. 32 of them are spread over the slots. Every node also has some in its lowest slots, because it may have none of the 32.
 */

const SPREAD = 32;
/** Several, because the lowest slots of a node change while it gets slots. */
const LOWEST = 8;

export interface Marker {
	readonly micros: number;
	readonly process: string;
}

export function markerIn(value: string): Marker {
	const [micros, process = ''] = value.split(' ');
	return { micros: Number(micros), process };
}

export const packedMarker = (micros: number, process: string): string => `${micros} ${process}`;

const SPREAD_TAGS: readonly string[] = spreadTags(SPREAD);
export const SPREAD_SLOTS: readonly number[] = SPREAD_TAGS.map(slotOf);

export const lowestOf = (slots: readonly number[]): number[] => slots.slice(0, LOWEST);

const tags = new Map<number, string>(SPREAD_TAGS.map((tag) => [slotOf(tag), tag]));
let tried = 0;

/** A hash tag in this slot, the same one in every process. */
export function tagIn(slot: number): string {
	if (slot < 0 || slot >= SLOTS) throw new Error(`no slot ${slot}`);
	for (let tag = tags.get(slot); ; tag = tags.get(slot)) {
		if (tag !== undefined) return tag;
		const next = `e${tried}`;
		tried += 1;
		const at = slotOf(next);
		if (!tags.has(at)) tags.set(at, next);
	}
}
