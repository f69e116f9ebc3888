/** Does this every so often, and never twice at once. Returns what ends it. */
export function repeating(
	everyMs: number,
	work: () => Promise<void>,
	onError: (error: Error) => void,
): () => void {
	let running = false;
	const timer = setInterval(() => {
		if (running) return;
		running = true;
		work()
			.catch(onError)
			.finally(() => {
				running = false;
			});
	}, everyMs);
	timer.unref();
	return () => clearInterval(timer);
}
