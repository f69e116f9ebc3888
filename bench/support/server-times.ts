/** How long the server itself says a method took, so far. */
export async function serverTimes(url: string, method: string): Promise<{ seconds: number; calls: number }> {
	const text = await (await fetch(`${url}/metrics`)).text();
	const read = (part: 'sum' | 'count'): number => {
		const line = new RegExp(
			`^tidemark_request_duration_seconds_${part}\\{method="${method}"\\} (\\S+)$`,
			'm',
		);
		return Number(line.exec(text)?.[1] ?? 0);
	};
	return { seconds: read('sum'), calls: read('count') };
}
