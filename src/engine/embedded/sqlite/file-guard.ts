import { readSync, type Stats, statSync } from 'node:fs';
import { basename } from 'node:path';

/**
 * Whether the files that the server works on are still those it opened. SQLite does not notice that a database was deleted,
 * moved, truncated or overwritten under it: it goes on writing, and what it acknowledges is lost.
 *
 * Asked by the writing thread between its own writes, the only ones there are. It reads through a descriptor that is open as long
 * as the database is: closing any descriptor of a file gives up all locks that the process has on it, SQLite's too.
 */

export interface GuardedFiles {
	/** Of the database, open for reading as long as the database is. */
	readonly descriptor: number;
	readonly database: string;
	readonly lock: string;
	/** What the database's header has as `user_version` since this start. */
	readonly mark: number;
}

const HEADER_BYTES = 100;
const MAGIC = 'SQLite format 3\0';
/** Offsets in the header: docs of SQLite's file format. */
const CHANGE_COUNTER = 24;
const USER_VERSION = 60;

export class FileGuard {
	private readonly wal: string;
	private readonly opened: Readonly<Record<string, string | null>>;
	private walOpened: string | null = null;
	private size = 0;
	private modifiedMs = 0;
	private counter = 0;

	constructor(private readonly files: GuardedFiles) {
		this.wal = `${files.database}-wal`;
		this.opened = { database: identityOf(files.database), lock: identityOf(files.lock) };
		this.noteOwnWrite();
	}

	/**
	 * To be called after each write of the server's own. These never make the file smaller and leave its header in place: a file
	 * that was harmed during a write is not taken for the result of it, and the next look finds the harm.
	 */
	noteOwnWrite(): void {
		this.walOpened ??= identityOf(this.wal);
		const found = statOf(this.files.database);
		const header = this.header();
		if (!found || !header || found.size < this.size) return;
		this.size = found.size;
		this.modifiedMs = found.mtimeMs;
		this.counter = header.counter;
	}

	/** What is wrong, as the operator reads it; null: nothing. */
	problem(): string | null {
		const { database, lock } = this.files;
		return (
			this.exchanged(database, this.opened.database ?? null) ??
			this.overwritten() ??
			(this.walOpened === null ? null : this.exchanged(this.wal, this.walOpened)) ??
			this.exchanged(lock, this.opened.lock ?? null)
		);
	}

	private exchanged(path: string, opened: string | null): string | null {
		const now = identityOf(path);
		if (now === opened) return null;
		const what = now === null ? 'is gone' : 'was replaced by another file';
		return `${path} ${what} while the server is running. The server no longer writes. ${WHAT_TO_DO}`;
	}

	private overwritten(): string | null {
		const found = statOf(this.files.database);
		if (!found || (found.mtimeMs === this.modifiedMs && found.size === this.size)) return null;
		const header = this.header();
		// A tool that checkpoints from outside, as some for replication do, changes the file and leaves all of this as it is.
		const isOurs = header && header.mark === this.files.mark && header.counter >= this.counter;
		if (isOurs && found.size >= this.size) return null;
		const name = basename(this.files.database);
		return `${this.files.database} was overwritten or truncated while the server is running. The server no longer writes. Stop the server, restore ${name} from a backup without its -wal and -shm, and start it.`;
	}

	private header(): { readonly mark: number; readonly counter: number } | null {
		const bytes = Buffer.alloc(HEADER_BYTES);
		const read = readSync(this.files.descriptor, bytes, 0, HEADER_BYTES, 0);
		if (read < HEADER_BYTES || bytes.toString('latin1', 0, MAGIC.length) !== MAGIC) return null;
		return { mark: bytes.readInt32BE(USER_VERSION), counter: bytes.readUInt32BE(CHANGE_COUNTER) };
	}
}

const WHAT_TO_DO =
	'Put it back as it was, or stop the server, restore the data directory from a backup, and start it.';

const statOf = (path: string): Stats | undefined => statSync(path, { throwIfNoEntry: false });

function identityOf(path: string): string | null {
	const found = statOf(path);
	return found ? `${found.dev}:${found.ino}` : null;
}
