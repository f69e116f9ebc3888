/** A message, as stored. */

export interface Message {
	readonly conversation: string;
	readonly ts: number;
	readonly user: string;
	readonly text: string;
	/** The root's ts, for a reply; null for a root. */
	readonly threadTs: number | null;
	/** A reply that is also in the timeline of the conversation. */
	readonly broadcast: boolean;
	readonly clientMsgId: string | null;
	/** Members that the message names; decided when it is posted and when it is edited. */
	readonly named: readonly string[];
	readonly channelWide: boolean;
	readonly here: boolean;
	readonly editedTs: number | null;
	/** Stamp of its newest change; its ts if it never changed. */
	readonly changedTs: number;
	readonly deleted: boolean;
	/** JSON: blocks, attachments, metadata, files. Stored without interpreting it, except that a deleted file becomes a tombstone. */
	readonly extra: string | null;
}

/** Whether the message is in its conversation's timeline: not deleted, and either a root or a broadcast reply. */
export const inTimeline = (message: Pick<Message, 'threadTs' | 'broadcast' | 'deleted'>): boolean =>
	!message.deleted && (message.threadTs === null || message.broadcast);

/** Size of text and extra in UTF-8. */
export const bytesOf = ({ text, extra }: Pick<Message, 'text' | 'extra'>): number =>
	Buffer.byteLength(text) + (extra === null ? 0 : Buffer.byteLength(extra));

/** Whether a page of messages reached its limit in bytes. */
export function isFull(messages: readonly Message[], mostBytes: number): boolean {
	let bytes = 0;
	for (const message of messages) {
		bytes += bytesOf(message);
		if (bytes >= mostBytes) return true;
	}
	return false;
}
