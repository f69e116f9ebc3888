import { DataDirectoryInUse, DataDirectoryUnusable } from '../engine/embedded/sqlite/open.ts';

/** Why the server did not start, and what to do about it, in words. */
export function explainFailure(error: unknown): string {
	if (error instanceof DataDirectoryInUse) return `${error.message} The flag is --data-dir.`;
	if (error instanceof DataDirectoryUnusable)
		return `${error.message}. Choose another one with --data-dir, or mend its permissions.`;
	if (error instanceof CannotListen) return explainListening(error);
	return error instanceof Error ? error.message : String(error);
}

/** The address that was configured cannot be listened on. */
export class CannotListen extends Error {
	readonly code: string | undefined;

	constructor(
		readonly host: string,
		readonly port: number,
		override readonly cause: unknown,
	) {
		super(cause instanceof Error ? cause.message : String(cause));
		this.name = 'CannotListen';
		this.code = (cause as { code?: string }).code;
	}
}

function explainListening({ host, port, code, message }: CannotListen): string {
	switch (code) {
		case 'EADDRINUSE':
			return `port ${port} is taken by another program. Choose another one with --port or TIDEMARK_PORT.`;
		case 'EACCES':
			return `port ${port} needs privileges, as all below 1024 do. Choose another one with --port or TIDEMARK_PORT.`;
		case 'EADDRNOTAVAIL':
			return `${host} is no address of this machine. Choose another one with --host.`;
		default:
			return `${host}:${port} cannot be listened on (${message}). Choose others with --host and --port.`;
	}
}
