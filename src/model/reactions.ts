/**
 * The reactions to a message, one summary per emoji: the number of users, a few of them, and when the first one reacted. The
 * full list of users is stored separately, so that a message with thousands of reactions stays small.
 */

export interface Reaction {
	/** Without colons; a skin tone follows after `::`. */
	readonly name: string;
	readonly count: number;
	/** The first users who reacted, up to `USERS_SHOWN`. If one of them removes the reaction, the next user who reacts is added. */
	readonly users: readonly string[];
	/** Stamp of the first reaction with this emoji; clients show emoji in this order. */
	readonly firstTs: number;
}

/** Distinct emoji per message. */
export const MAX_EMOJI = 50;
/** Reactions per user and message. */
export const MAX_PER_USER = 23;
export const USERS_SHOWN = 20;

const NAME = /^[\p{Ll}\p{Lo}\p{Lm}\p{M}\p{N}_+'-]{1,100}(::skin-tone-[2-6])?$/u;

/** Accepts the name of an emoji with or without colons. */
export function parseReactionName(text: string): string | undefined {
	const name = text.startsWith(':') && text.endsWith(':') ? text.slice(1, -1) : text;
	return NAME.test(name) ? name : undefined;
}

export function withUser(reaction: Reaction | undefined, name: string, user: string, at: number): Reaction {
	if (!reaction) return { name, count: 1, users: [user], firstTs: at };
	const users = reaction.users.length < USERS_SHOWN ? [...reaction.users, user] : reaction.users;
	return { ...reaction, count: reaction.count + 1, users };
}

/** Null: no user is left. */
export function withoutUser(reaction: Reaction, user: string): Reaction | null {
	if (reaction.count <= 1) return null;
	return { ...reaction, count: reaction.count - 1, users: reaction.users.filter((one) => one !== user) };
}

/** In display order. */
export const inOrder = (reactions: Iterable<Reaction>): Reaction[] =>
	[...reactions].sort((a, b) => a.firstTs - b.firstTs || (a.name < b.name ? -1 : 1));
