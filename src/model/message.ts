/** A message as the store keeps it and the sequencer decides about it. */

export interface Message {
	readonly conversation: string;
	readonly ts: number;
	readonly user: string;
	readonly text: string;
	/** The root's ts, for a reply; null for a root. */
	readonly threadTs: number | null;
	/** A reply that stands in the timeline as well. */
	readonly broadcast: boolean;
	readonly clientMsgId: string | null;
	/** Members it names, judged when it was sent or last edited. */
	readonly named: readonly string[];
	readonly channelWide: boolean;
	readonly here: boolean;
	readonly editedTs: number | null;
	/** Stamp of its newest change; its own ts when nothing changed since. */
	readonly changedTs: number;
	readonly deleted: boolean;
	/** What the server carries without looking into it: blocks, attachments, metadata; JSON. */
	readonly extra: string | null;
}

/** Whether it counts in its conversation: roots and broadcast replies that are not deleted. */
export const inTimeline = (message: Pick<Message, 'threadTs' | 'broadcast' | 'deleted'>): boolean =>
	!message.deleted && (message.threadTs === null || message.broadcast);

/** How large it is as UTF-8, without what every message has. */
export const bytesOf = ({ text, extra }: Pick<Message, 'text' | 'extra'>): number =>
	Buffer.byteLength(text) + (extra === null ? 0 : Buffer.byteLength(extra));

/** Whether a page of messages that was to end at so many bytes did. */
export function isFull(messages: readonly Message[], mostBytes: number): boolean {
	let bytes = 0;
	for (const message of messages) {
		bytes += bytesOf(message);
		if (bytes >= mostBytes) return true;
	}
	return false;
}
