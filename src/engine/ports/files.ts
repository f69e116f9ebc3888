import type { FileState } from '../../model/files.ts';
import type { ConversationKind } from '../../model/ids.ts';

/** Metadata of files; `FileContents` has their bytes. */

export interface FileRecord {
	readonly id: string;
	readonly team: string;
	/** The user who uploaded it. */
	readonly user: string;
	readonly name: string;
	readonly title: string;
	readonly mimetype: string;
	readonly altText: string;
	readonly snippetType: string;
	/** In bytes. */
	readonly size: number;
	readonly createdTs: number;
	readonly state: FileState;
	/** Hash of the secret in its upload URL. */
	readonly secret: string;
	/** The upload that is its content; empty before the first. */
	readonly object: string;
	/** Conversations that it was completed for. */
	readonly channels: readonly string[];
	/** In pixels, for pictures; 0: unknown. */
	readonly width: number;
	readonly height: number;
}

export type NewFile = Omit<FileRecord, 'state' | 'object' | 'channels' | 'width' | 'height'>;

/** A message that contains the file. */
export interface FileShare {
	readonly conversation: string;
	readonly kind: ConversationKind;
	readonly name: string;
	readonly ts: number;
	readonly threadTs: number | null;
}

export interface FileQuery {
	readonly team: string;
	/** Finds this user's files, and files in conversations that the user may read. */
	readonly reader: string;
	/** Exclude public channels that the user is not a member of. */
	readonly memberOnly: boolean;
	readonly user: string | null;
	readonly conversation: string | null;
	/** In microseconds, inclusive. */
	readonly after: number;
	readonly before: number;
	/** Patterns of media types, with % as wildcard; empty: all. */
	readonly types: readonly string[];
	readonly offset: number;
	readonly limit: number;
}

/** Changes are durable when the promise resolves. */
export interface Files {
	/** Resolves to false, without a write, if the workspace would exceed `teamBytes`, or the user has `unfinished` unfinished uploads. */
	reserve(file: NewFile, most: { readonly teamBytes: number; readonly unfinished: number }): Promise<boolean>;
	/** The files that exist, in the order of `ids`. */
	get(ids: readonly string[]): Promise<readonly FileRecord[]>;
	/** Makes an upload the file's content. Resolves to false if the file is already complete or deleted. */
	uploaded(id: string, object: string, picture: Pick<FileRecord, 'width' | 'height'>): Promise<boolean>;
	/**
	 * Completes uploaded files: all of them, or none. Resolves to false if one is neither uploaded nor already complete
	 * for these conversations.
	 */
	complete(
		files: readonly { readonly id: string; readonly title: string }[],
		channels: readonly string[],
	): Promise<boolean>;
	/** Reverts `complete` for those of these files that no message contains. */
	reopen(ids: readonly string[]): Promise<void>;
	/** Messages that contain the file, by ts. */
	shares(file: Pick<FileRecord, 'id' | 'channels'>): Promise<readonly FileShare[]>;
	list(query: FileQuery): Promise<{ readonly files: readonly FileRecord[]; readonly total: number }>;
	/** From now on no user can read the file. */
	beginDelete(id: string): Promise<void>;
	/** Call it once the content is removed: deletes the name of the file and its shares. */
	deleted(id: string): Promise<void>;
	/** Marks unfinished uploads from before this stamp as `abandoned`; they accept no more uploads. */
	abandon(before: number): Promise<void>;
	/** Files in this state from before this stamp, oldest first. */
	inState(state: FileState, before: number, limit: number): Promise<readonly FileRecord[]>;
	/** Deletes the row of an abandoned upload. */
	remove(id: string): Promise<void>;
}
