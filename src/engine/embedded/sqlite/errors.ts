/** Another process works on this data directory. */
export class DataDirectoryInUse extends Error {
	constructor(directory: string) {
		super(
			`${directory} is in use by another process: one server works on a data directory at a time. ` +
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

export const codeOf = (error: unknown): string =>
	error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
