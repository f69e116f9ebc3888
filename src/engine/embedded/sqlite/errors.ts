/** Another process works on this data directory. */
export class DataDirectoryInUse extends Error {
	/** `holder`: the id of that process, where it is known. */
	constructor(directory: string, holder: number | null) {
		super(
			`${directory} is in use by ${holder === null ? 'another process' : `process ${holder}`}: one server works on a data directory at a time. ` +
				'Stop the other one, or give this one a directory of its own.',
		);
		this.name = 'DataDirectoryInUse';
	}
}

/** The data directory cannot be worked with; the message says why. */
export class DataDirectoryUnusable extends Error {
	constructor(directory: string, reason: string, cause?: unknown) {
		super(`${directory} cannot be used as the data directory: ${reason}`, { cause });
		this.name = 'DataDirectoryUnusable';
	}
}

/** The database cannot be read as one: no permission and no other directory brings it back. */
export class DatabaseDamaged extends Error {
	constructor(path: string, cause?: unknown, reason = 'is damaged, or no database') {
		super(`${path} ${reason}`, { cause });
		this.name = 'DatabaseDamaged';
	}
}

export const codeOf = (error: unknown): string =>
	error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
