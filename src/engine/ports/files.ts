import type { FileState } from '../../model/files.ts';
import type { ConversationKind } from '../../model/ids.ts';

/** What is known about files; their content is in `FileContents`. */

export interface FileRecord {
	readonly id: string;
	readonly team: string;
	/** Who uploaded it. */
	readonly user: string;
	readonly name: string;
	readonly title: string;
	readonly mimetype: string;
	readonly altText: string;
	readonly snippetType: string;
	/** Bytes. */
	readonly size: number;
	readonly createdTs: number;
	readonly state: FileState;
	/** Hash of the secret in its upload URL. */
	readonly secret: string;
	/** Which of the uploads is its content; empty before the first. */
	readonly object: string;
	/** The conversations that its completion named. */
	readonly channels: readonly string[];
	/** Of a picture; 0: not known. */
	readonly width: number;
	readonly height: number;
}

export type NewFile = Omit<FileRecord, 'state' | 'object' | 'channels' | 'width' | 'height'>;

/** A message that the file is in. */
export interface FileShare {
	readonly conversation: string;
	readonly kind: ConversationKind;
	readonly name: string;
	readonly ts: number;
	readonly threadTs: number | null;
}

export interface FileQuery {
	readonly team: string;
	/** The files of this user, and those in conversations that the user may read. */
	readonly reader: string;
	/** Public channels are read by members only. */
	readonly memberOnly: boolean;
	readonly user: string | null;
	readonly conversation: string | null;
	/** Micros, inclusive. */
	readonly after: number;
	readonly before: number;
	/** Patterns of media types, with % for anything; empty: all. */
	readonly types: readonly string[];
	readonly offset: number;
	readonly limit: number;
}

/** Changes are durable when they resolve. */
export interface Files {
	/** Answers false, with nothing written, when the workspace would have more bytes or the user more unfinished uploads than this. */
	reserve(file: NewFile, most: { readonly teamBytes: number; readonly unfinished: number }): Promise<boolean>;
	/** Those that exist, in the order asked for. */
	get(ids: readonly string[]): Promise<readonly FileRecord[]>;
	/** Makes an upload the file's content. Answers false when the file is complete or gone. */
	uploaded(id: string, object: string, picture: Pick<FileRecord, 'width' | 'height'>): Promise<boolean>;
	/**
	 * Completes stored files, all of them or none that was not complete before. Answers false when one of them is neither stored nor complete
	 * with these conversations.
	 */
	complete(
		files: readonly { readonly id: string; readonly title: string }[],
		channels: readonly string[],
	): Promise<boolean>;
	/** Takes back what `complete` did. */
	reopen(ids: readonly string[]): Promise<void>;
	/** The messages that it is in, by ts. */
	shares(file: Pick<FileRecord, 'id' | 'channels'>): Promise<readonly FileShare[]>;
	list(query: FileQuery): Promise<{ readonly files: readonly FileRecord[]; readonly total: number }>;
	/** From here on nobody reads it. */
	beginDelete(id: string): Promise<void>;
	/** Its content is gone: forgets its name and its shares. */
	deleted(id: string): Promise<void>;
	/** Unfinished uploads from before this stamp become `abandoned`: nothing more can be uploaded to them. */
	abandon(before: number): Promise<void>;
	/** Files in this state from before this stamp, the oldest first. */
	inState(state: FileState, before: number, limit: number): Promise<readonly FileRecord[]>;
	forget(id: string): Promise<void>;
}
