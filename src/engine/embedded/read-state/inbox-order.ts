import type { LoadedConversation } from './loaded.ts';
import type { Residents } from './residents.ts';

/**
 * The conversations of one part of an inbox in the order of their latest activity. Where the part is small all
 * of it is looked at. Otherwise the newest conversations of all are walked through until enough are found that
 * are in the part, which for someone who is in most of them is soon.
 */

/** Some of a user's conversations. */
export interface Part {
	/** It holds no more than so many, and those are among the ones that `numberAt` tells. */
	readonly atMost: number;
	readonly numberAt: (index: number) => number;
	readonly has: (conversation: number) => boolean;
}

/** What comes after it is older, or as old with a higher id. */
interface Place {
	readonly latest: number;
	readonly conversation: string;
}

/** Up to here, looking at all is cheaper than walking. */
const FEW = 512;

export function inOrder(
	residents: Residents,
	part: Part,
	start: Place | null,
	limit: number,
): LoadedConversation[] {
	if (limit <= 0) return [];
	return (part.atMost > FEW && walk(residents, part, start, limit)) || scan(residents, part, start, limit);
}

/** Undefined where walking takes longer than looking at everything would. */
function walk(
	{ recency }: Residents,
	part: Part,
	start: Place | null,
	limit: number,
): LoadedConversation[] | undefined {
	const found: LoadedConversation[] = [];
	let steps = 0;
	for (const conversation of recency.walk(start?.latest ?? Number.MAX_SAFE_INTEGER)) {
		steps += 1;
		if (steps > part.atMost) return undefined;
		if (conversation.archived || !isAfter(start, conversation) || !part.has(conversation.number)) continue;
		found.push(conversation);
		if (found.length === limit) return found;
	}
	return found;
}

function scan(residents: Residents, part: Part, start: Place | null, limit: number): LoadedConversation[] {
	const found: LoadedConversation[] = [];
	for (let index = 0; index < part.atMost; index += 1) {
		const conversation = residents.peekConversation(part.numberAt(index));
		if (!conversation || conversation.archived || !isAfter(start, conversation)) continue;
		if (part.has(conversation.number)) found.push(conversation);
	}
	return found.sort(byLatest).slice(0, limit);
}

const byLatest = (a: LoadedConversation, b: LoadedConversation): number =>
	b.timeline.latest - a.timeline.latest || (a.id < b.id ? -1 : 1);

function isAfter(place: Place | null, { id, timeline: { latest } }: LoadedConversation): boolean {
	if (!place) return true;
	return latest < place.latest || (latest === place.latest && id > place.conversation);
}
