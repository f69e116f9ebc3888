/**
 * Streams the file of a multipart form: memory holds one chunk and a boundary, however large the file is. The
 * file is the first part with a file name; parts before it are skipped. Clients name the part `file`, `filename` or `body`, so
 * its name does not matter.
 */

export class BadMultipart extends Error {}

/** Null: not a multipart form. */
export function boundaryOf(contentType: string): string | null {
	if (!/^multipart\/form-data\b/i.test(contentType)) return null;
	const found = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;]{1,70}))/i.exec(contentType);
	const boundary = found?.[1] ?? found?.[2];
	if (boundary === undefined) throw new BadMultipart('the boundary is missing');
	return boundary;
}

const MAX_HEADER_BYTES = 8 * 1024;
const CRLF = '\r\n';

export async function* fileOf(body: AsyncIterable<Uint8Array>, boundary: string): AsyncGenerator<Uint8Array> {
	const buffer = new ByteBuffer(body);
	const delimiter = Buffer.from(`${CRLF}--${boundary}`);
	// The form may begin with the delimiter, without a line break before it.
	buffer.prepend(Buffer.from(CRLF));
	await drop(buffer.until(delimiter));
	for (;;) {
		const ending = await buffer.peek(2);
		if (ending.equals(Buffer.from('--'))) throw new BadMultipart('no part of the form has a file name');
		if (!ending.equals(Buffer.from(CRLF))) throw new BadMultipart('no line break follows a boundary');
		if (hasFileName(await headersOf(buffer))) break;
		await drop(buffer.until(delimiter));
	}
	yield* buffer.until(delimiter);
	// Read the rest, so that the connection can be reused.
	await buffer.drain();
}

/**
 * Reads up to the empty line, starting with the line break that ends the boundary's line: in a part without
 * headers, the empty line follows that line break directly.
 */
async function headersOf(buffer: ByteBuffer): Promise<string> {
	const chunks: Uint8Array[] = [];
	let bytes = 0;
	for await (const chunk of buffer.until(Buffer.from(CRLF + CRLF))) {
		chunks.push(chunk);
		bytes += chunk.byteLength;
		if (bytes > MAX_HEADER_BYTES) throw new BadMultipart('the headers of a part are too long');
	}
	return Buffer.concat(chunks).toString('utf8');
}

const hasFileName = (headers: string): boolean =>
	/^content-disposition:[^\r\n]*;\s*filename\*?=/im.test(headers);

async function drop(chunks: AsyncIterable<Uint8Array>): Promise<void> {
	for await (const _chunk of chunks) {
		// Skipped.
	}
}

/** Bytes that were read and not consumed yet. */
class ByteBuffer {
	private held: Buffer = Buffer.alloc(0);
	private readonly source: AsyncIterator<Uint8Array>;

	constructor(body: AsyncIterable<Uint8Array>) {
		this.source = body[Symbol.asyncIterator]();
	}

	prepend(bytes: Buffer): void {
		this.held = Buffer.concat([bytes, this.held]);
	}

	/** Yields everything before the delimiter, and consumes the delimiter. */
	async *until(delimiter: Buffer): AsyncGenerator<Uint8Array> {
		for (;;) {
			const found = this.held.indexOf(delimiter);
			if (found >= 0) {
				const before = this.held.subarray(0, found);
				this.held = this.held.subarray(found + delimiter.length);
				if (before.length > 0) yield before;
				return;
			}
			// The delimiter may begin in the held bytes and end in the next chunk.
			const safe = this.held.length - (delimiter.length - 1);
			if (safe > 0) {
				const before = this.held.subarray(0, safe);
				this.held = this.held.subarray(safe);
				yield before;
			}
			if (!(await this.more())) throw new BadMultipart('the form ends too early');
		}
	}

	/** Returns the next bytes without consuming them. */
	async peek(bytes: number): Promise<Buffer> {
		while (this.held.length < bytes)
			if (!(await this.more())) throw new BadMultipart('the form ends too early');
		return this.held.subarray(0, bytes);
	}

	async drain(): Promise<void> {
		do this.held = Buffer.alloc(0);
		while (await this.more());
	}

	private async more(): Promise<boolean> {
		const next = await this.source.next();
		if (next.done) return false;
		this.held = this.held.length === 0 ? Buffer.from(next.value) : Buffer.concat([this.held, next.value]);
		return true;
	}
}
