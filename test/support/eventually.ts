/** Repeats a check until it succeeds, and returns its result. With 0 ms it has to succeed at once. */
export async function eventually<T>(check: () => Promise<T>, withinMs = 10_000): Promise<T> {
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
