import { parsePosition } from '../../model/position.ts';
import { parseTs } from '../../model/ts.ts';
import type { JsonObject } from '../../protocol/objects.ts';

/**
 * What somebody who comes late was told: of each thing once, how it stands. Live news of the same thing, as old as that or
 * older, may still be on its way. It would undo what was told: bring back a message after the word that it was deleted, or an
 * earlier text of it.
 */
export class AlreadyTold {
	/** By what they are about, the stamp of the newest that was told. */
	private readonly newest = new Map<string, number>();
	/** A topic has one order: after the last of them, none is on its way any more. */
	private readonly last: number;

	constructor(
		events: readonly JsonObject[],
		/** Of who joined: nothing from before is theirs, and who came back may be late to hear of what was said before they left. */
		private readonly joined = 0,
	) {
		let last = joined;
		for (const event of events) {
			const subject = subjectOf(event);
			const at = standsAt(event);
			this.newest.set(subject, Math.max(this.newest.get(subject) ?? 0, at));
			last = Math.max(last, at);
		}
		this.last = last;
	}

	/** With a live event of this stamp, nothing of it can come any more. */
	isOverAt(stamp: number): boolean {
		return stamp > this.last;
	}

	includes(frame: string, stamp: number): boolean {
		if (stamp < this.joined) return true;
		if (this.isOverAt(stamp)) return false;
		return stamp <= (this.newest.get(subjectOf(JSON.parse(frame))) ?? 0);
	}
}

/** The stamp that an event tells its subject at: a message that is told after it was edited has the newer text. */
export function standsAt({ position, edited }: JsonObject): number {
	const at = typeof position === 'string' ? (parsePosition(position) ?? 0) : 0;
	const editedTs = (edited as JsonObject | undefined)?.ts;
	return Math.max(at, typeof editedTs === 'string' ? (parseTs(editedTs) ?? 0) : 0);
}

function subjectOf(event: JsonObject): string {
	const { type, subtype, ts, deleted_ts, message, user, subscription } = event;
	const where = conversationOf(event);
	const shown = (message as JsonObject | undefined)?.ts;
	if (type === 'message') {
		if (subtype === 'message_replied') return `${where} thread ${shown}`;
		return `${where} message ${subtype === 'message_deleted' ? deleted_ts : (shown ?? ts)}`;
	}
	const followed = (subscription as JsonObject | undefined)?.thread_ts;
	// Following and no longer following are one thing; that a thread was read is another.
	if (followed !== undefined) return `${where} ${type === 'thread_marked' ? 'read' : 'follow'} ${followed}`;
	const [, what = ''] = /^(?:channel|group|mpim|im)_(?:un)?(\w+)$/.exec(String(type)) ?? [];
	// To be in it and to be no longer; that a channel was made is told to the whole workspace, and is another thing.
	if (what === 'joined' || what === 'left' || type === 'im_created') return `${where} membership`;
	return `${where} ${what === '' ? `${type} ${user}` : what}`;
}

/** Events name it, or show it, or name it in what they are about. */
export function conversationOf({ channel, subscription }: JsonObject): unknown {
	const about = channel ?? (subscription as JsonObject | undefined)?.channel;
	return typeof about === 'object' && about !== null ? (about as JsonObject).id : about;
}
