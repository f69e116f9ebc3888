/**
 * Who a text mentions. Two questions are kept apart: whom the text points at (a pure function of the text) and
 * whom a message names (which also depends on who was a member when it was sent or edited).
 */

import type { Message, WasActive } from './types.ts';

/**
 * Closed code, read from left to right: a block may span lines, inline code may not.
 * A backtick that closes nothing is plain text, so what follows it still mentions.
 */
const CLOSED_CODE = /```[\s\S]*?```|`[^`\n]+`/g;
const NAME = /<@([A-Z0-9]+)(?:\|[^>]*)?>/g;

/** Code becomes a space and not nothing: two halves around it must not grow together into a mention. */
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

/** Whether a message mentions a user without naming them: `<!here>` only those active when it was sent. */
export function mentionsChannelWide(message: Message, user: string, wasActive: WasActive): boolean {
	const text = outsideCode(message.text);
	if (text.includes('<!channel>') || text.includes('<!everyone>')) {
		return true;
	}
	// The message's ts decides, also for a <!here> that a later edit added.
	return text.includes('<!here>') && wasActive(user, message.ts);
}

/**
 * Whom a text names when it is sent (nobody was named before) or edited: members of that moment, and who was
 * named before and still stands in the text: leaving takes nothing away.
 */
export function namedBy(text: string, isMember: (user: string) => boolean, before: Set<string>): Set<string> {
	return new Set([...usersIn(text)].filter((user) => isMember(user) || before.has(user)));
}
