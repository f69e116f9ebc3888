import { join } from 'node:path';
import { FileDirectory } from '../engine/embedded/file-directory.ts';
import type { FileContents } from '../engine/ports/file-contents.ts';
import type { Config } from './config.ts';

/** Where the content of files is kept, by the settings: a bucket, a directory, or nowhere. */

export const filesDirectory = ({ filesDir, dataDir }: Config): string => filesDir ?? join(dataDir, 'files');

/** For a process that has its data directory to itself. */
export async function fileContents(config: Config): Promise<FileContents | null> {
	if (config.fileMaxMb === 0) return null;
	const directory = new FileDirectory(filesDirectory(config));
	await directory.clearIncoming();
	return directory;
}

/** For gateways of a cluster, which have no directory of their own. */
export function sharedContents(config: Config): FileContents | null {
	if (config.fileMaxMb === 0 || config.filesDir === null) return null;
	return new FileDirectory(config.filesDir);
}
