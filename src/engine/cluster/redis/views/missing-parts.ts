import type { Wanted } from '../../../ports/views.ts';
import type { ConversationCopy } from './conversation-copy.ts';
import type { Copies } from './conversation-views.ts';

/** What copies lack of what is wanted, seen in the turn in which they are used. */

export interface TooShort {
	readonly copy: ConversationCopy;
	readonly back: number;
}

/** Copies that do not go as far back as is wanted. */
export function tooShort(wanted: readonly Wanted[], copies: Copies): TooShort[] {
	const short: TooShort[] = [];
	for (const [index, { back, archivedToo }] of wanted.entries()) {
		const copy = copies[index];
		if (!copy || back === null || back >= copy.timeline.floor) continue;
		if (copy.archived && !archivedToo) continue;
		short.push({ copy, back });
	}
	return short;
}

export const lacksThreads = (wanted: readonly Wanted[], copies: Copies): boolean =>
	wanted.some(({ threads }, index) => threads.some((root) => copies[index]?.threads.has(root) === false));
