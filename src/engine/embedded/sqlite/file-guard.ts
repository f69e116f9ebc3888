import { readSync, type Stats, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { messageOfError } from '../../../model/errors.ts';

/**
 * Checks that the server's files are still those it opened. SQLite does not notice if a database is deleted,
 * moved, truncated or overwritten: it continues to write, and acknowledged changes are lost.
 *
 * The writer thread, which does all writes, runs the check between them. It reads through a descriptor that stays open as long
 * as the database: closing any descriptor of a file releases all locks of the process on it, including SQLite's.
 */

export interface GuardedFiles {
	/** Descriptor of the database file, open for reading as long as the database is. */
	readonly descriptor: number;
	readonly database: string;
	readonly lock: string;
	/** The `user_version` that this start wrote into the database's header. */
	readonly startNumber: number;
}

const HEADER_BYTES = 100;
const MAGIC = 'SQLite format 3\0';
/** Offsets in the header, see SQLite's file format. */
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
	 * Call it after each write of the server. The server's writes always keep the header and never shrink the file, so a smaller
	 * file or a missing header is not recorded as the result of a write, and the next check reports it.
	 */
	noteOwnWrite(): void {
		try {
			this.walOpened ??= identityOf(this.wal);
			const found = statOf(this.files.database);
			const header = this.header();
			if (!found || !header || found.size < this.size) return;
			this.size = found.size;
			this.modifiedMs = found.mtimeMs;
			this.counter = header.counter;
		} catch {
			// The next check reports it.
		}
	}

	/** The problem, as a text for the operator; null: none. */
	problem(): string | null {
		try {
			return this.difference();
		} catch (error) {
			return `The server cannot check its files (${messageOfError(error)}) and has stopped writing. Make ${dirname(this.files.database)} readable again.`;
		}
	}

	/** How the files differ from those that the server opened. */
	private difference(): string | null {
		const { database, lock } = this.files;
		return (
			this.replaced(database, this.opened.database ?? null) ??
			this.overwritten() ??
			(this.walOpened === null ? null : this.replaced(this.wal, this.walOpened)) ??
			this.replaced(lock, this.opened.lock ?? null)
		);
	}

	private replaced(path: string, opened: string | null): string | null {
		const now = identityOf(path);
		if (now === opened) return null;
		const what = now === null ? 'was removed' : 'was replaced by another file';
		return `${path} ${what} while the server is running. The server has stopped writing. ${WHAT_TO_DO}`;
	}

	private overwritten(): string | null {
		const found = statOf(this.files.database);
		if (!found || (found.mtimeMs === this.modifiedMs && found.size === this.size)) return null;
		const header = this.header();
		// Another program that runs a checkpoint, as some replication tools do, changes the file, but never lowers the counter or the size.
		const isOurs = header && header.startNumber === this.files.startNumber && header.counter >= this.counter;
		if (isOurs && found.size >= this.size) return null;
		const name = basename(this.files.database);
		return `${this.files.database} was overwritten or truncated while the server is running. The server has stopped writing. Stop the server, delete ${name}, ${name}-wal and ${name}-shm, restore ${name} from a backup, and start the server.`;
	}

	private header(): { readonly startNumber: number; readonly counter: number } | null {
		const bytes = Buffer.alloc(HEADER_BYTES);
		const read = readSync(this.files.descriptor, bytes, 0, HEADER_BYTES, 0);
		if (read < HEADER_BYTES || bytes.toString('latin1', 0, MAGIC.length) !== MAGIC) return null;
		return { startNumber: bytes.readInt32BE(USER_VERSION), counter: bytes.readUInt32BE(CHANGE_COUNTER) };
	}
}

const WHAT_TO_DO =
	'Put the file back as it was, or stop the server, restore the data directory from a backup, and start the server.';

const statOf = (path: string): Stats | undefined => statSync(path, { throwIfNoEntry: false });

function identityOf(path: string): string | null {
	const found = statOf(path);
	return found ? `${found.dev}:${found.ino}` : null;
}
