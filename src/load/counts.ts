import { type CountVerdict, expectedUnread, judge, NO_MARKS, type Sent } from './expected.ts';
import type { Participant } from './participant.ts';
import type { Plan } from './plan.ts';
import { each, type Stage } from './stage.ts';

/**
 * Fetches the counts of some users and compares them with what was sent: checks from outside that counts are exact.
 */

export interface CheckedCounts {
	readonly people: number;
	readonly rows: number;
	readonly exact: number;
	/** Not checkable: the outcome of a post or mark is unknown. */
	readonly unclear: number;
	readonly wrong: number;
	/** The first few wrong counts. */
	readonly examples: readonly string[];
}

const PEOPLE = 50;
const EXAMPLES = 5;

interface Row {
	readonly id: string;
	readonly unread_count: number;
}

export async function checkCounts(
	plan: Plan,
	stage: Stage,
	participants: readonly Participant[],
	sent: readonly (readonly Sent[])[],
): Promise<CheckedCounts> {
	const found: Record<CountVerdict, number> = { exact: 0, unclear: 0, wrong: 0 };
	const examples: string[] = [];
	const people = plan.sample(PEOPLE);
	await each(people.length, new AbortController().signal, async (index) => {
		const person = people[index] ?? 0;
		const call = await stage.as(person);
		const { channels } = await call<{ channels: readonly Row[] }>('client.counts', {});
		const served = new Map(channels.map(({ id, unread_count }) => [id, unread_count]));
		for (const conversation of plan.conversationsOf(person)) {
			const channel = stage.channels[conversation] ?? '';
			const marked = participants[person]?.marked(channel) ?? NO_MARKS;
			const expected = expectedUnread(sent[conversation] ?? [], person, marked);
			const verdict = judge(served.get(channel), expected);
			found[verdict] += 1;
			if (verdict === 'wrong' && examples.length < EXAMPLES)
				examples.push(
					`${stage.people[person]} in ${channel}: ${served.get(channel) ?? 'no row'}, expected ${expected.min === expected.max ? expected.min : `${expected.min} to ${expected.max}`}`,
				);
		}
	});
	const rows = found.exact + found.unclear + found.wrong;
	return { people: people.length, rows, ...found, examples };
}
