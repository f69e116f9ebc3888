import type { Reaction } from '../model/reactions.ts';
import { formatTs } from '../model/ts.ts';
import { type LiveEvent, liveEvent, stamped } from './live-event.ts';
import type { JsonObject } from './objects.ts';

/**
 * Reactions on the wire. Slack's events say what a user did; ours also carry the state of the emoji on the message
 * in `current`, so that a client that missed an event, or got one twice, ends with the same state as one that loads
 * the message.
 */

export const wireReaction = ({ name, count, users, firstTs }: Reaction): JsonObject => ({
	name,
	users,
	count,
	first_ts: formatTs(firstTs),
});

/** The field of the message; absent without reactions. */
export const reactionsField = (reactions: readonly Reaction[] | undefined): JsonObject =>
	reactions?.length ? { reactions: reactions.map(wireReaction) } : {};

export interface Reacted {
	/** The conversation. */
	readonly channel: string;
	/** The message and its author. */
	readonly ts: number;
	readonly author: string;
	readonly name: string;
	readonly user: string;
	readonly added: boolean;
	readonly at: number;
	readonly current: Reaction | null;
}

export function reactionEvent(reacted: Reacted): LiveEvent {
	const { channel, ts, author, name, user, added, at, current } = reacted;
	return liveEvent(channel, `reaction ${ts} ${name} ${user}`, at, {
		type: added ? 'reaction_added' : 'reaction_removed',
		user,
		reaction: name,
		item: { type: 'message', channel, ts: formatTs(ts) },
		item_user: author,
		current: current ? wireReaction(current) : { name, users: [], count: 0 },
		...stamped(at),
	});
}
