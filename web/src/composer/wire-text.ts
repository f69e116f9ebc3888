import type { Conversation, User } from '@tidemark/client';
import { escapeText, unescapeText } from '../message/parse-text.ts';

/**
 * Converts between the text that people write (`@ada`, `#harbour`) and the text on the wire (`<@U…>`, `<#C…|harbour>`). Code stays
 * unchanged. Converting to the wire and back changes only mentions and links that the author typed in their wire form, and the case of
 * names.
 */

type Users = ReadonlyMap<string, User>;

const CODE_OR_NAME =
	/(```[\s\S]*?```|`[^`\n]+`)|(?<![\p{L}\p{N}_@.])@([\p{L}\p{N}_.-]*[\p{L}\p{N}_])|(?<![\p{L}\p{N}_#&])#([\p{L}\p{N}_-]+)/gu;
/** Links and mentions that people may type in their wire form. They contain no `<`, so one that is not closed does not swallow the next. */
const MARKED_UP = /&lt;((?:https?:\/\/|@[UW]|#C)(?:(?!&lt;)[^\n])*?)&gt;/g;
const EVERYONE = new Set(['channel', 'here', 'everyone']);

/** The names after an @, except in code. */
export const namesIn = (text: string): readonly string[] =>
	text.includes('@') ? [...text.matchAll(CODE_OR_NAME)].flatMap(([, , name]) => (name ? [name] : [])) : [];

export function toWire(text: string, users: Users, conversations: Iterable<Conversation> = []): string {
	const byName = new Map([...users.values()].map((user) => [user.name.toLowerCase(), user.id]));
	const channels = new Map([...conversations].map(({ name, id }) => [name, id]));
	const escaped = escapeText(text).replace(MARKED_UP, '<$1>');
	return escaped.replace(
		CODE_OR_NAME,
		(whole, code: string | undefined, name: string | undefined, channel: string | undefined) => {
			if (code !== undefined) return whole;
			if (channel !== undefined) {
				const id = channels.get(channel);
				return id ? `<#${id}|${channel}>` : whole;
			}
			const lower = (name ?? '').toLowerCase();
			if (EVERYONE.has(lower)) return `<!${lower}>`;
			const id = byName.get(lower);
			return id ? `<@${id}>` : whole;
		},
	);
}

const CODE_OR_MENTION =
	/(```[\s\S]*?```|`[^`\n]+`)|<@([UW][A-Z0-9]+)(?:\|[^<>]*)?>|<!(channel|here|everyone)(?:\|[^<>]*)?>|<#C[A-Z0-9]+\|([^<>]+)>/g;

export function fromWire(text: string, users: Users): string {
	const plain = text.replace(
		CODE_OR_MENTION,
		(
			whole,
			code: string | undefined,
			id: string | undefined,
			everyone: string | undefined,
			channel: string | undefined,
		) => {
			if (code !== undefined) return whole;
			if (channel) return `#${channel}`;
			if (everyone) return `@${everyone}`;
			const user = users.get(id ?? '');
			return user ? `@${user.name}` : whole;
		},
	);
	return unescapeText(plain);
}
