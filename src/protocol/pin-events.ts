import type { Pin } from '../model/pins.ts';
import { formatTs } from '../model/ts.ts';
import { type LiveEvent, liveEvent, stamped } from './live-event.ts';
import type { JsonObject } from './objects.ts';

/** Pins on the wire. Events carry only the beginning of the text, because every member gets them. */

const TEXT_CHARACTERS = 200;

export const pinFields = (channel: string, pin: Pin | undefined): JsonObject =>
	pin
		? {
				pinned_to: [channel],
				pinned_info: { channel, pinned_by: pin.user, pinned_ts: Math.floor(pin.at / 1e6) },
			}
		: {};

export interface Pinned {
	/** The conversation. */
	readonly channel: string;
	/** The message, its author and the beginning of its text. */
	readonly ts: number;
	readonly author: string;
	readonly text: string;
	readonly user: string;
	readonly added: boolean;
	readonly at: number;
	/** Number of pins of the conversation afterwards. */
	readonly count: number;
}

export function pinEvent({ channel, ts, author, text, user, added, at, count }: Pinned): LiveEvent {
	const message = {
		type: 'message',
		user: author,
		text: Array.from(text.slice(0, TEXT_CHARACTERS * 2))
			.slice(0, TEXT_CHARACTERS)
			.join(''),
		ts: formatTs(ts),
		...(added ? pinFields(channel, { ts, user, at }) : {}),
	};
	return liveEvent(channel, `pin ${ts}`, at, {
		type: added ? 'pin_added' : 'pin_removed',
		user,
		channel_id: channel,
		item: { type: 'message', channel, message, created: Math.floor(at / 1e6), created_by: user },
		item_user: author,
		pin_count: count,
		has_pins: count > 0,
		...stamped(at),
	});
}
