import type { Message } from '@tidemark/client';
import { dayNumber } from '../ui/format.ts';

/**
 * The rows of the timeline: each is a message and the headings above it. There is one row per message, so that rows keep their
 * identity when older messages are loaded.
 */

export interface TimelineRow {
	readonly key: string;
	readonly message: Message;
	/** The first message of its day. */
	readonly startsDay: boolean;
	/** The oldest new message: the divider is above it. */
	readonly startsNew: boolean;
	/** Follows shortly after a message of the same author, so it is shown without name and picture. */
	readonly isContinued: boolean;
}

/** After a pause this long, name and picture are shown again. */
const MAX_CONTINUED_GAP_S = 5 * 60;

/** The client_msg_id if there is one: it stays the same when an unsent message gets its ts. */
const keyOf = (message: Message): string => message.clientMsgId ?? message.ts;

const isContinuedBy = (above: Message, message: Message): boolean =>
	above.user === message.user &&
	above.username === message.username &&
	!above.isTombstone &&
	!message.isBroadcast &&
	above.replyCount === 0 &&
	(message.ts === '' || Number(message.ts) - Number(above.ts) < MAX_CONTINUED_GAP_S);

/** `anchor`: the divider is after this ts; null: no divider. */
export function timelineRows(
	messages: readonly Message[],
	anchor: string | null,
	self: string,
): TimelineRow[] {
	let hasDivider = anchor === null;
	let above: Message | undefined;
	let dayAbove = Number.NaN;
	return messages.map((message) => {
		// An unsent message has no time yet: it gets no heading of its own.
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
