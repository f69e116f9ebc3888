import { DataDirectoryInUse, DataDirectoryUnusable } from '../engine/embedded/sqlite/open.ts';

/** Why the server did not start, and what to do about it, in words. */
export function explainFailure(error: unknown): string {
	if (error instanceof DataDirectoryInUse)
		return `${error.message}. Stop the other one, or give this one its own with --data-dir.`;
	if (error instanceof DataDirectoryUnusable)
		return `${error.message}. Choose another one with --data-dir, or mend its permissions.`;
	const { code, message } = error as { code?: string; message?: string };
	if (code === 'EADDRINUSE') return 'the port is taken by another program. Choose another one with --port.';
	if (code === 'EACCES')
		return `${message}. Ports below 1024 need privileges; choose another one with --port.`;
	return message ?? String(error);
}
