import { SLOTS, slotOf, spreadTags } from './slots.ts';

/**
 * Markers of epochs: keys on every node that say since when the read state there is whole, and by which process of Redis it
 * has been kept since. 32 of them are spread over the slots. Every node has some in its lowest slots as well: it may have none of those.
 */

const SPREAD = 32;
/** A node that is being given slots has others as its lowest ones before long. */
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
