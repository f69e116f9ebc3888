import { formatTs } from './ts.ts';

/**
 * Files of a message: objects in `extra.files`, written when the file is shared and never refreshed. Deleting a file
 * replaces its object with a tombstone.
 */

export interface FileInMessage {
	readonly id: string;
	/** `tombstone`: the file was deleted. */
	readonly mode?: string;
	/** When the file was deleted; tombstones only. */
	readonly deleted_ts?: string;
}

export const MAX_FILES = 20;

const TOMBSTONE = 'tombstone';
const NONE: readonly FileInMessage[] = [];

export const isTombstone = ({ mode }: FileInMessage): boolean => mode === TOMBSTONE;

/** Most messages have no files: parse JSON only if there may be one. */
export function filesIn(extra: string | null): readonly FileInMessage[] {
	if (!extra?.includes('"files":[')) return NONE;
	return (JSON.parse(extra) as { readonly files?: readonly FileInMessage[] }).files ?? NONE;
}

/** `extra` with a tombstone for the file. Null: the message does not have the file, or has its tombstone. */
export function withoutFile(extra: string | null, id: string, at: number): string | null {
	const files = filesIn(extra);
	if (extra === null || !files.some((file) => file.id === id && !isTombstone(file))) return null;
	const tombstone: FileInMessage = { id, mode: TOMBSTONE, deleted_ts: formatTs(at) };
	return JSON.stringify({
		...JSON.parse(extra),
		files: files.map((file) => (file.id === id ? tombstone : file)),
	});
}

export const FILE_STATES = {
	/** It has an id and no content yet. */
	awaited: 0,
	/** It has content. */
	stored: 1,
	/** The client has completed the upload: users can see the file. */
	complete: 2,
	/** No user can read it any more; its content is being removed. */
	deleting: 3,
	deleted: 4,
	/** The client did not complete the upload in time. */
	abandoned: 5,
} as const;
export type FileState = keyof typeof FILE_STATES;
