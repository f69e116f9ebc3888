import type { Message } from '@tidemark/client';
import { dayNumber } from '../ui/format.ts';

/** A message and what stands above it. One row for each message, so that rows keep their places when older ones come. */

export interface TimelineRow {
	readonly key: string;
	readonly message: Message;
	/** The first one of its day. */
	readonly startsDay: boolean;
	/** The oldest one that was unread: the divider is above it. */
	readonly startsNew: boolean;
	readonly isContinued: boolean;
}

/** After a pause this long, name and picture are shown again. */
const PAUSE_S = 5 * 60;

/** Before a message has a ts it has the id that it was sent with, and keeps it. */
const keyOf = (message: Message): string => message.clientMsgId ?? message.ts;

const isContinuedBy = (above: Message, message: Message): boolean =>
	above.user === message.user &&
	above.username === message.username &&
	!above.isTombstone &&
	!message.isBroadcast &&
	above.replyCount === 0 &&
	(message.ts === '' || Number(message.ts) - Number(above.ts) < PAUSE_S);

/** `anchor`: everything after it was unread when one came; null for no divider. */
export function timelineRows(
	messages: readonly Message[],
	anchor: string | null,
	self: string,
): TimelineRow[] {
	let hasDivider = anchor === null;
	let above: Message | undefined;
	let dayAbove = Number.NaN;
	return messages.map((message) => {
		// What is being sent has no time yet: it is of today.
		const day = message.ts === '' ? dayAbove : dayNumber(message.ts);
		const startsDay = day !== dayAbove && !Number.isNaN(day);
		const startsNew =
			!hasDivider && message.ts > (anchor ?? '') && message.user !== self && !message.isTombstone;
		if (startsNew) hasDivider = true;
		const isContinued = !startsDay && !startsNew && above !== undefined && isContinuedBy(above, message);
		above = message;
		dayAbove = day;
		return { key: keyOf(message), message, startsDay, startsNew, isContinued };
	});
}
