/** Reads the output of another process line by line. */

export async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
	const decoder = new TextDecoder();
	let rest = '';
	for await (const chunk of stream) {
		rest += decoder.decode(chunk, { stream: true });
		const lines = rest.split('\n');
		rest = lines.pop() ?? '';
		yield* lines;
	}
	if (rest !== '') yield rest;
}

/** Returns one line per call. */
export class LineReader {
	private readonly lines: AsyncGenerator<string>;

	constructor(stream: ReadableStream<Uint8Array>) {
		this.lines = linesOf(stream);
	}

	async next(): Promise<string> {
		const { value, done } = await this.lines.next();
		if (done) throw new Error('the process ended before it printed the expected line');
		return value;
	}
}

export async function firstLineWith(stream: ReadableStream<Uint8Array>, text: string): Promise<string> {
	const reader = new LineReader(stream);
	for (;;) {
		const line = await reader.next();
		if (line.includes(text)) return line;
	}
}
