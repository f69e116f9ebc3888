/** Another process uses this data directory. */
export class DataDirectoryInUse extends Error {
	/** `holder`: id of that process, if known. */
	constructor(directory: string, holder: number | null) {
		super(
			`${directory} is in use by ${holder === null ? 'another process' : `process ${holder}`}: only one server can use a data directory at a time. ` +
				'Stop the other server, or give this one another directory.',
		);
		this.name = 'DataDirectoryInUse';
	}
}

/** The data directory cannot be used; the message says why. */
export class DataDirectoryUnusable extends Error {
	constructor(directory: string, reason: string, cause?: unknown) {
		super(`${directory} cannot be used as the data directory: ${reason}`, { cause });
		this.name = 'DataDirectoryUnusable';
	}
}

/** The file cannot be read as a database: neither permissions nor another directory help. */
export class DatabaseDamaged extends Error {
	constructor(path: string, cause?: unknown, reason = 'is damaged, or is not a SQLite database') {
		super(`${path} ${reason}`, { cause });
		this.name = 'DatabaseDamaged';
	}
}

export const codeOf = (error: unknown): string =>
	error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
