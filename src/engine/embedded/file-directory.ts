import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { FileContents } from '../ports/file-contents.ts';

/**
 * Stores contents of files in a directory: `AB/FAB…/<object>`. An upload is written to `incoming/`, synced, and renamed once it is
 * complete, so an object is complete or does not exist, even after kill -9 or a power failure.
 */

const OWNER_ONLY = { directory: 0o700, file: 0o600 };
const INCOMING = 'incoming';

export class FileDirectory implements FileContents {
	constructor(private readonly base: string) {}

	async write(id: string, object: string, content: AsyncIterable<Uint8Array>): Promise<void> {
		const place = this.placeOf(id);
		const draft = join(this.base, INCOMING, `${id}-${object}`);
		const path = join(place, object);
		await mkdir(dirname(draft), { recursive: true, mode: OWNER_ONLY.directory });
		try {
			await writeSynced(draft, content);
			await mkdir(place, { recursive: true, mode: OWNER_ONLY.directory });
			await rename(draft, path);
			// The directory entry of the object, and those of directories that may be new.
			for (const directory of [place, dirname(place), this.base]) await sync(directory);
		} catch (error) {
			for (const written of [draft, path]) await rm(written, { force: true });
			throw error;
		}
	}

	async read(id: string, object: string, start: number, end: number): Promise<Blob | null> {
		const path = join(this.placeOf(id), object);
		try {
			await stat(path);
		} catch (error) {
			if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
			throw error;
		}
		return Bun.file(path).slice(start, end);
	}

	discard(id: string, object: string): Promise<void> {
		return rm(join(this.placeOf(id), object), { force: true });
	}

	async keepOnly(id: string, object: string): Promise<void> {
		const place = this.placeOf(id);
		for (const name of await readdir(place).catch(() => []))
			if (name !== object) await rm(join(place, name), { force: true });
	}

	remove(id: string): Promise<void> {
		return rm(this.placeOf(id), { recursive: true, force: true });
	}

	/** Removes uploads that a crash interrupted. Call at the start, when no other process uses the directory. */
	clearIncoming(): Promise<void> {
		return rm(join(this.base, INCOMING), { recursive: true, force: true });
	}

	private placeOf(id: string): string {
		return join(this.base, id.slice(1, 3), id);
	}
}

async function writeSynced(path: string, content: AsyncIterable<Uint8Array>): Promise<void> {
	const file = await open(path, 'wx', OWNER_ONLY.file);
	try {
		for await (const chunk of content)
			for (let written = 0; written < chunk.byteLength; )
				written += (await file.write(chunk, written)).bytesWritten;
		await file.sync();
	} finally {
		await file.close();
	}
}

async function sync(path: string): Promise<void> {
	const directory = await open(path, 'r');
	try {
		await directory.sync();
	} finally {
		await directory.close();
	}
}
