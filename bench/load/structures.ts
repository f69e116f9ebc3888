import { Memberships } from '../../src/engine/embedded/read-state/memberships.ts';
import { Timeline } from '../../src/model/timeline.ts';

/** Bytes that a cursor and a timeline entry take in memory: many are made, and what the process grew by is divided. */

export interface StructuresReport {
	readonly perCursor: number;
	readonly perEntry: number;
}

const FIRST_TS = 1_700_000_000_000_000;

export const CURSORS = { owners: 20_000, each: 50 };
export const ENTRIES = { owners: 1_000, each: 1_000 };

function memberships(): Memberships {
	const made = new Memberships();
	for (let conversation = 0; conversation < CURSORS.each; conversation += 1)
		made.set(conversation, { member: true, muted: false, level: 'all', revision: 0, cursor: FIRST_TS });
	return made;
}

function timeline(): Timeline {
	const made = new Timeline(0);
	for (let index = 0; index < ENTRIES.each; index += 1)
		made.append({ ts: FIRST_TS + index, author: index % 50, flags: 0, named: [] });
	return made;
}

function bytesPerItem(make: () => unknown, { owners, each }: { owners: number; each: number }): number {
	// Once beforehand, so that code and heap are there.
	const kept: unknown[] = Array.from({ length: 100 }, make);
	Bun.gc(true);
	const before = process.memoryUsage.rss();
	for (let owner = 0; owner < owners; owner += 1) kept.push(make());
	Bun.gc(true);
	const grown = process.memoryUsage.rss() - before;
	if (kept.length < owners) throw new Error('unreachable: keeps them alive until here');
	return grown / (owners * each);
}

if (import.meta.main) {
	const report: StructuresReport =
		process.argv[2] === 'cursors'
			? { perCursor: bytesPerItem(memberships, CURSORS), perEntry: 0 }
			: { perCursor: 0, perEntry: bytesPerItem(timeline, ENTRIES) };
	console.log(JSON.stringify(report));
}
