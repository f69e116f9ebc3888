import type { User } from '@tidemark/client';
import { escapeText, unescapeText } from '../message/parse-text.ts';

/**
 * People write `@ada`; on the wire that is `<@U…>`. What stands in code stays as it is written. Going there and back gives
 * the same text.
 */

type Users = ReadonlyMap<string, User>;

const CODE_OR_NAME = /(```[\s\S]*?```|`[^`\n]+`)|(?<![\w@.])@([\w.-]*\w)/g;
/** Links and mentions that were on the wire and are not written in another way. */
const MARKED_UP = /&lt;((?:https?:\/\/|@[UW]|#C)[^\n<>]*?)&gt;/g;
const EVERYONE = new Set(['channel', 'here', 'everyone']);

export function toWire(text: string, users: Users): string {
	const byName = new Map([...users.values()].map((user) => [user.name.toLowerCase(), user.id]));
	const escaped = escapeText(text).replace(MARKED_UP, '<$1>');
	return escaped.replace(CODE_OR_NAME, (whole, code: string | undefined, name: string) => {
		if (code !== undefined) return whole;
		if (EVERYONE.has(name.toLowerCase())) return `<!${name.toLowerCase()}>`;
		const id = byName.get(name.toLowerCase());
		return id ? `<@${id}>` : whole;
	});
}

const CODE_OR_MENTION =
	/(```[\s\S]*?```|`[^`\n]+`)|<@([UW][A-Z0-9]+)(?:\|[^<>]*)?>|<!(channel|here|everyone)(?:\|[^<>]*)?>/g;

export function fromWire(text: string, users: Users): string {
	const plain = text.replace(
		CODE_OR_MENTION,
		(whole, code: string | undefined, id: string | undefined, everyone: string | undefined) => {
			if (code !== undefined) return whole;
			if (everyone) return `@${everyone}`;
			const user = users.get(id ?? '');
			return user ? `@${user.name}` : whole;
		},
	);
	return unescapeText(plain);
}
