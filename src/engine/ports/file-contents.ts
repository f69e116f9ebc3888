/**
 * Stores the bytes of files in a directory or a bucket. Each upload is a separate object under the file's id, so that a failed
 * or late upload replaces nothing; `Files` records which object is the content.
 */
export interface FileContents {
	/** Durable when it resolves; stores nothing when it rejects. Streams: the content is never in memory as a whole. */
	write(id: string, object: string, content: AsyncIterable<Uint8Array>): Promise<void>;
	/** Bytes from `start` to `end` (exclusive). Null: no such object. */
	read(id: string, object: string, start: number, end: number): Promise<Blob | ReadableStream | null>;
	/** Removes one object. */
	discard(id: string, object: string): Promise<void>;
	/** Removes all objects of the file but this one. */
	keepOnly(id: string, object: string): Promise<void>;
	/** Removes all objects of the file. */
	remove(id: string): Promise<void>;
}
