import type { Counts } from '../../../../model/counting.ts';
import type { ConversationKind } from '../../../../model/ids.ts';
import { Timeline } from '../../../../model/timeline.ts';
import { unpackEntry } from './packing.ts';

/** What scripts tell of a conversation, and what becomes of it. Pure. */

export interface Standing {
	readonly kind: ConversationKind;
	readonly archived: boolean;
	/** Stamp of the conversation's newest change. */
	readonly stamp: number;
	/** Newest entry; 0 for none. */
	readonly latest: number;
}

export interface Answer {
	readonly standing: Standing;
	/** ts, entry, ts, entry… of what changed at or below the floor. */
	readonly changes: readonly string[];
	readonly rest: readonly string[];
}

/** Of an answer that is one string: whether there is one, and its parts. */
export function partsOf(answer: string): [state: number, ...parts: string[]] {
	const [state, ...parts] = answer.split(' ');
	return [Number(state), ...parts];
}

/** As scripts lay it out. */
export function answerOf([kind, archived, stamp, latest, changed, ...rest]: readonly string[]): Answer {
	const standing = {
		kind: kind as ConversationKind,
		archived: archived === '1',
		stamp: Number(stamp),
		latest: Number(latest),
	};
	const changes = Number(changed) * 2;
	return { standing, changes: rest.slice(0, changes), rest: changes === 0 ? rest : rest.slice(changes) };
}

export function countsOf(told: readonly string[], activeAt: (ts: number) => boolean): Counts {
	const [unread = 0, mentions = 0, named = 0, namedInThreadOnly = 0, ...here] = told.map(Number);
	return { unread, mentions: mentions + here.filter(activeAt).length, named, namedInThreadOnly };
}

export const sumOf = (a: Counts, b: Counts): Counts => ({
	unread: a.unread + b.unread,
	mentions: a.mentions + b.mentions,
	named: a.named + b.named,
	namedInThreadOnly: a.namedInThreadOnly + b.namedInThreadOnly,
});

/** With users numbered as they come. */
export function timelineOf(
	packed: readonly string[],
	latest: number,
	after: number,
): { readonly timeline: Timeline; readonly numberOf: (user: string) => number } {
	const numbers = new Map<string, number>();
	const numberOf = (user: string) => {
		const number = numbers.get(user) ?? numbers.size;
		numbers.set(user, number);
		return number;
	};
	const timeline = new Timeline(latest);
	if (packed.length > 0)
		timeline.prepend(
			packed.map((entry) => unpackEntry(entry, numberOf)),
			after,
		);
	return { timeline, numberOf };
}
