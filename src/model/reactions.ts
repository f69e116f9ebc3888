/**
 * Emoji reactions to a message, summed up by emoji: how many users, the first of them by name, and since when. Who exactly reacted
 * is kept apart (one row for each user), so that a message that thousands react to stays small wherever it is shown.
 */

export interface Reaction {
	/** Without colons; a skin tone follows after `::`. */
	readonly name: string;
	readonly count: number;
	/** The earliest of those who react, up to `USERS_SHOWN`. */
	readonly users: readonly string[];
	/** Stamp of the first of them: reactions are shown in this order. */
	readonly firstTs: number;
}

/** Different emoji on one message. */
export const MOST_EMOJI = 50;
/** Reactions of one user to one message. */
export const MOST_OF_USER = 23;
export const USERS_SHOWN = 20;

const NAME = /^[\p{Ll}\p{Lo}\p{Lm}\p{M}\p{N}_+'-]{1,100}(::skin-tone-[2-6])?$/u;

/** The name of an emoji as people write it, with or without colons around it. */
export function parseReactionName(text: string): string | undefined {
	const name = text.startsWith(':') && text.endsWith(':') ? text.slice(1, -1) : text;
	return NAME.test(name) ? name : undefined;
}

export function withUser(reaction: Reaction | undefined, name: string, user: string, at: number): Reaction {
	if (!reaction) return { name, count: 1, users: [user], firstTs: at };
	const users = reaction.users.length < USERS_SHOWN ? [...reaction.users, user] : reaction.users;
	return { ...reaction, count: reaction.count + 1, users };
}

/** Null: nobody is left. */
export function withoutUser(reaction: Reaction, user: string): Reaction | null {
	if (reaction.count <= 1) return null;
	return { ...reaction, count: reaction.count - 1, users: reaction.users.filter((one) => one !== user) };
}

/** In the order in which they are shown. */
export const inOrder = (reactions: Iterable<Reaction>): Reaction[] =>
	[...reactions].sort((a, b) => a.firstTs - b.firstTs || (a.name < b.name ? -1 : 1));
