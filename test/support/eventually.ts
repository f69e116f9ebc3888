/** Repeats a check until it holds, for so long; what it says then is the outcome. With 0 it has to hold at once. */
export async function eventually<T>(withinMs: number, check: () => Promise<T>): Promise<T> {
	const end = performance.now() + withinMs;
	for (;;) {
		try {
			return await check();
		} catch (error) {
			if (performance.now() >= end) throw error;
			await Bun.sleep(20);
		}
	}
}
