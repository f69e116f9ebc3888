import { S3Client, type S3File } from 'bun';
import type { FileContents } from '../ports/file-contents.ts';

/**
 * Contents of files in an S3-compatible bucket, as `<prefix>/<id>/<object>`. An object appears there when all of it has arrived, and is
 * durable then, as such services promise.
 */

export interface BucketOptions {
	readonly bucket: string;
	/** Null: Amazon's. */
	readonly endpoint: string | null;
	readonly region: string;
	readonly accessKeyId: string;
	readonly secretAccessKey: string;
	/** Several installations may share a bucket. */
	readonly prefix: string;
}

/** Memory that an upload takes: a part that is collected, and one on its way. */
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
				// The writer keeps the chunk; its bytes may be reused by the reader of the request.
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
		// A stream of an object that is missing fails only when it is read, after the headers are sent.
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
