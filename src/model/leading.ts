/** The first of these, as many as are no larger than `most` together; one at least, where there is any. */
export function leading<Item>(
	items: readonly Item[],
	sizeOf: (item: Item) => number,
	most: number,
): readonly Item[] {
	let size = 0;
	const end = items.findIndex((item) => {
		size += sizeOf(item);
		return size > most;
	});
	return items.slice(0, end < 0 ? undefined : Math.max(1, end));
}
