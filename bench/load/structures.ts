import { heapStats } from 'bun:jsc';
import { MembershipTable } from '../../src/engine/read-state/memberships.ts';
import { Timeline } from '../../src/model/timeline.ts';

/** The bytes that a cursor and a timeline entry take in memory: creates many, and divides the growth of heap and process. */

export interface StructuresReport {
	/** Live bytes, as the heap counts them. */
	readonly live: number;
	/** The growth of the process, including the heap's reserve. */
	readonly grown: number;
}

const FIRST_TS = 1_700_000_000_000_000;

export const CURSORS = { owners: 20_000, each: 50 };
export const ENTRIES = { owners: 1_000, each: 1_000 };

function memberships(): MembershipTable {
	const made = new MembershipTable(CURSORS.each);
	for (let conversation = 0; conversation < CURSORS.each; conversation += 1)
		made.set(conversation, {
			member: true,
			muted: false,
			level: 'all',
			revision: 0,
			cursor: FIRST_TS,
			joined: 0,
			at: 0,
		});
	return made;
}

function timeline(): Timeline {
	const made = new Timeline(0);
	for (let index = 0; index < ENTRIES.each; index += 1)
		made.append({ ts: FIRST_TS + index, author: index % 50, flags: 0, named: [] });
	return made;
}

function bytesPerItem(
	make: () => unknown,
	{ owners, each }: { readonly owners: number; readonly each: number },
): StructuresReport {
	// Creates some beforehand, so that code and heap are warm.
	const kept: unknown[] = Array.from({ length: 100 }, make);
	const before = memoryInUse();
	for (let owner = 0; owner < owners; owner += 1) kept.push(make());
	const after = memoryInUse();
	if (kept.length < owners) throw new Error('unreachable: this check keeps the objects alive');
	return {
		live: (after.live - before.live) / (owners * each),
		grown: (after.grown - before.grown) / (owners * each),
	};
}

function memoryInUse(): StructuresReport {
	Bun.gc(true);
	const { heapSize } = heapStats();
	return { live: heapSize, grown: process.memoryUsage.rss() };
}

if (import.meta.main) {
	const [make, numbers] = process.argv[2] === 'cursors' ? [memberships, CURSORS] : [timeline, ENTRIES];
	console.log(JSON.stringify(bytesPerItem(make, numbers)));
}
