/**
 * Whom a text mentions. Two questions are kept apart: whom the text addresses (a pure function of the text), and whom a
 * message names (which also depends on the members when it was sent or edited).
 */

import type { Message, WasActive } from './types.ts';

/**
 * Closed code, from left to right: a block may span lines, inline code may not. A backtick that closes nothing is plain
 * text, so mentions after it count.
 */
const CLOSED_CODE = /```[\s\S]*?```|`[^`\n]+`/g;
const NAME = /<@([A-Z0-9]+)(?:\|[^>]*)?>/g;

/** Code becomes a space: the two sides of it must not join into a mention. */
function outsideCode(text: string): string {
	return text.replace(CLOSED_CODE, ' ');
}

export function usersIn(text: string): Set<string> {
	const users = new Set<string>();
	for (const match of outsideCode(text).matchAll(NAME)) {
		if (match[1] !== undefined) {
			users.add(match[1]);
		}
	}
	return users;
}

/**
 * Whether a message mentions a user without naming them: `<!here>` mentions only users who were active when it was sent.
 */
export function mentionsChannelWide(message: Message, user: string, wasActive: WasActive): boolean {
	const text = outsideCode(message.text);
	if (text.includes('<!channel>') || text.includes('<!everyone>')) {
		return true;
	}
	// The message's ts decides, also for a <!here> that a later edit added.
	return text.includes('<!here>') && wasActive(user, message.ts);
}

/**
 * Whom a text names when it is sent (nobody was named before) or edited: the members at that time, and users who were
 * named before and are still in the text, because leaving removes no mention.
 */
export function namedBy(text: string, isMember: (user: string) => boolean, before: Set<string>): Set<string> {
	return new Set([...usersIn(text)].filter((user) => isMember(user) || before.has(user)));
}
