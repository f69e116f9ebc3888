import { filesIn, isTombstone } from '../model/files.ts';
import type { Message } from '../model/message.ts';
import { formatTs, parseTs } from '../model/ts.ts';
import { type LiveEvent, liveEvent, stamped } from './live-event.ts';

/** Events about the files of a message, in addition to the events about the message. */

/** Sent with the message that shares the files. */
export function sharedEvents(message: Message): LiveEvent[] {
	const { conversation, ts, user, extra } = message;
	return filesIn(extra)
		.filter((file) => !isTombstone(file))
		.map(({ id }) =>
			liveEvent(conversation, `file ${ts} ${id}`, ts, {
				type: 'file_shared',
				channel_id: conversation,
				file_id: id,
				user_id: user,
				file: { id },
				ts: formatTs(ts),
				...stamped(ts),
			}),
		);
}

export interface FileDeletion {
	readonly file: string;
	readonly at: number;
	readonly event: LiveEvent;
}

/** The deleted files of a message, each with the time of its deletion. */
export function fileDeletions({ conversation, ts, extra }: Message): FileDeletion[] {
	return filesIn(extra).flatMap((file) => {
		const at = isTombstone(file) ? parseTs(file.deleted_ts ?? '') : undefined;
		if (at === undefined) return [];
		const event = liveEvent(conversation, `file ${ts} ${file.id}`, at, {
			type: 'file_deleted',
			file_id: file.id,
			channel_ids: [conversation],
			...stamped(at),
		});
		return [{ file: file.id, at, event }];
	});
}
