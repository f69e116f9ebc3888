import { formatTs } from './ts.ts';

/**
 * Files as messages carry them: objects in `extra.files`, made when the file is shared and never looked up again. Deleting a file
 * replaces its object by a tombstone.
 */

export interface FileInMessage {
	readonly id: string;
	/** `tombstone`: it was deleted. */
	readonly mode?: string;
	/** Of a tombstone: when. */
	readonly deleted_ts?: string;
}

export const MOST_FILES = 20;

const TOMBSTONE = 'tombstone';
const NONE: readonly FileInMessage[] = [];

export const isTombstone = ({ mode }: FileInMessage): boolean => mode === TOMBSTONE;

/** Most messages have none: only what may have one is parsed. */
export function filesIn(extra: string | null): readonly FileInMessage[] {
	if (!extra?.includes('"files":[')) return NONE;
	return (JSON.parse(extra) as { readonly files?: readonly FileInMessage[] }).files ?? NONE;
}

/** Null: the file is not in it, or is a tombstone already. */
export function withoutFile(extra: string | null, id: string, at: number): string | null {
	const files = filesIn(extra);
	if (extra === null || !files.some((file) => file.id === id && !isTombstone(file))) return null;
	const tombstone: FileInMessage = { id, mode: TOMBSTONE, deleted_ts: formatTs(at) };
	return JSON.stringify({
		...JSON.parse(extra),
		files: files.map((file) => (file.id === id ? tombstone : file)),
	});
}

/** Where a file's content is on its way: from a reserved id to the end. */
export const FILE_STATES = {
	awaited: 0,
	stored: 1,
	complete: 2,
	deleting: 3,
	deleted: 4,
	abandoned: 5,
} as const;
export type FileState = keyof typeof FILE_STATES;
