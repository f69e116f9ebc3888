import { type Dataset, inParts, userId } from './dataset.ts';
import type { Bench } from './scenario.ts';

/** Users in this many conversations each, half of which are read: the data on which counts are measured. */

const AUTHOR = userId(0);
export const MESSAGES_EACH = 3;

/** A user in as many conversations. */
export const readerOf = (size: number): string => userId(size);

export async function fillHalfRead(bench: Bench, dataset: Dataset, sizes: readonly number[]): Promise<void> {
	const largest = Math.max(...sizes);
	bench.progress(`making ${largest} conversations`);
	await dataset.users([AUTHOR, ...sizes.map(readerOf)]);
	await inParts(largest, 1_000, async (from, to) => {
		const work: Promise<void>[] = [];
		for (let index = from; index < to; index += 1) {
			const readers = sizes.filter((size) => index < size).map(readerOf);
			const { conversation, done } = dataset.channel([AUTHOR, ...readers]);
			const all = done.then(() =>
				dataset.messages(conversation, AUTHOR, MESSAGES_EACH, index % 2 === 0 ? readers : []),
			);
			work.push(all);
		}
		await Promise.all(work);
	});
}
