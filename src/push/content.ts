import type { User } from '../engine/ports/store.ts';
import type { Conversation } from '../model/conversation.ts';
import { isDirect } from '../model/ids.ts';
import type { Message } from '../model/message.ts';
import { fallbackText } from './fallback-text.ts';

/** Title and body of a notification. Pure. */

const MAX_CHARACTERS = 240;

export interface ContentContext {
	readonly conversation: Pick<Conversation, 'kind' | 'name'> | undefined;
	/** The author and the mentioned users, as far as they were found. */
	readonly people: ReadonlyMap<string, User>;
}

export function notificationContent(message: Message, { conversation, people }: ContentContext) {
	const author = postedAs(message) ?? nameOf(people.get(message.user));
	const place = conversation && !isDirect(conversation.kind) ? ` in #${conversation.name}` : '';
	return {
		title: `${author}${place}`,
		body: cut(readable(message.text.trim() ? message.text : fallbackText(message.extra), people)),
	};
}

/** The username that a bot set for this message. */
function postedAs({ extra }: Message): string | undefined {
	if (extra === null || !extra.includes('"username"')) return undefined;
	const { username } = JSON.parse(extra) as { readonly username?: unknown };
	return typeof username === 'string' ? username : undefined;
}

const nameOf = (user: User | undefined): string => user?.realName || user?.name || 'Somebody';

/** Replaces mentions and links with readable text; formatting stays. */
function readable(text: string, people: ReadonlyMap<string, User>): string {
	return text
		.replace(/<@([UW][A-Z0-9]{2,20})(?:\|([^<>]{0,80}))?>/g, (_, id: string, label?: string) => {
			return `@${label ?? nameOf(people.get(id))}`;
		})
		.replace(/<!(channel|everyone|here)(?:\|[^<>]{0,80})?>/g, '@$1')
		.replace(
			/<(https?:[^<>|]{1,2000})(?:\|([^<>]{1,200}))?>/g,
			(_, url: string, label?: string) => label ?? url,
		)
		.replaceAll('&lt;', '<')
		.replaceAll('&gt;', '>')
		.replaceAll('&amp;', '&');
}

function cut(text: string): string {
	if (text === '') return '…';
	const characters = [...text.slice(0, MAX_CHARACTERS * 2)];
	return characters.length <= MAX_CHARACTERS && text.length <= MAX_CHARACTERS * 2
		? text
		: `${characters.slice(0, MAX_CHARACTERS - 1).join('')}…`;
}
