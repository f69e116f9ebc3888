import { type Dataset, inParts, userId } from './dataset.ts';
import type { Bench } from './scenario.ts';

/**
 * Fills a dataset on which counts are measured: for each size, one user who is in that many conversations and has
 * read every other one.
 */

const AUTHOR = userId(0);
export const MESSAGES_EACH = 3;

/** The user who is in `size` conversations. */
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
