/**
 * Where the bytes of files are: a directory or a bucket. An upload is an object of its own under the file's id, so that one which fails or
 * comes late replaces nothing; which object is the content is in `Files`.
 */
export interface FileContents {
	/** Durable when it resolves; when it rejects, nothing is kept. The content is never in memory as a whole. */
	write(id: string, object: string, content: AsyncIterable<Uint8Array>): Promise<void>;
	/** Bytes from `start` up to, not including, `end`. Null: there is no such object. */
	read(id: string, object: string, start: number, end: number): Promise<Blob | ReadableStream | null>;
	/** Removes one object. */
	discard(id: string, object: string): Promise<void>;
	/** Removes all objects of the file but this one. */
	keepOnly(id: string, object: string): Promise<void>;
	/** Removes all objects of the file. */
	remove(id: string): Promise<void>;
}
