import { S3Client, type S3File } from 'bun';
import type { FileContents } from '../ports/file-contents.ts';

/**
 * Stores contents of files in an S3-compatible bucket, as `<prefix>/<id>/<object>`. S3 guarantees that an object is
 * visible only once it is complete, and that it is durable then.
 */

export interface BucketOptions {
	readonly bucket: string;
	/** Null: Amazon S3. */
	readonly endpoint: string | null;
	readonly region: string;
	readonly accessKeyId: string;
	readonly secretAccessKey: string;
	/** Several installations can share a bucket. */
	readonly prefix: string;
}

/** An upload needs memory for two parts: one being collected, one being sent. */
const PART_BYTES = 5 * 1024 * 1024;

export class S3Bucket implements FileContents {
	private readonly client: S3Client;

	constructor(private readonly options: BucketOptions) {
		const { bucket, endpoint, region, accessKeyId, secretAccessKey } = options;
		this.client = new S3Client({
			bucket,
			region,
			accessKeyId,
			secretAccessKey,
			...(endpoint === null ? {} : { endpoint }),
		});
	}

	async write(id: string, object: string, content: AsyncIterable<Uint8Array>): Promise<void> {
		const file = this.file(id, object);
		const writer = file.writer({ partSize: PART_BYTES, queueSize: 1, retry: 3 });
		try {
			for await (const chunk of content) {
				// Copied: the writer keeps the chunk, but the reader of the request may reuse its bytes.
				await writer.write(Buffer.from(chunk));
				await writer.flush();
			}
			await writer.end();
		} catch (error) {
			await Promise.resolve(writer.end(error as Error)).catch(() => undefined);
			await file.delete().catch(() => undefined);
			throw error;
		}
	}

	async read(id: string, object: string, start: number, end: number): Promise<ReadableStream | null> {
		const file = this.file(id, object);
		// A stream of a missing object would fail only after the headers are sent.
		if (!(await file.exists())) return null;
		return file.slice(start, end).stream();
	}

	discard(id: string, object: string): Promise<void> {
		return this.file(id, object).delete();
	}

	async keepOnly(id: string, object: string): Promise<void> {
		const prefix = this.keyOf(id, '');
		const { contents = [] } = await this.client.list({ prefix });
		for (const { key } of contents) if (key !== this.keyOf(id, object)) await this.client.file(key).delete();
	}

	remove(id: string): Promise<void> {
		return this.keepOnly(id, '');
	}

	private file(id: string, object: string): S3File {
		return this.client.file(this.keyOf(id, object), { type: 'application/octet-stream' });
	}

	private keyOf(id: string, object: string): string {
		return `${this.options.prefix}/${id}/${object}`;
	}
}
