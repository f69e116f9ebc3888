/**
 * Turns names in a text, `@ada` and `#quay`, into mentions and links, as Slack's `link_names` does. Code, links and mentions
 * stay unchanged. Pure: the caller looks up the ids between `writtenNames` and `linkNames`.
 */

export interface WrittenNames {
	readonly users: readonly string[];
	readonly channels: readonly string[];
}

/** At most this many distinct names are looked up; the rest stays plain text. */
const MAX_NAMES = 100;

/** Matches code, links and mentions, which stay unchanged, or a name with the character before it. */
const TOKEN =
	/```[\s\S]*?```|`[^`\n]+`|<[^<>\n]{1,3000}>|(^|[\s([{"',;])([@#])([\p{L}\p{N}_][\p{L}\p{N}._-]{0,79})/gu;

const TO_ALL: Readonly<Record<string, string>> = {
	channel: '<!channel>',
	everyone: '<!everyone>',
	here: '<!here>',
};

/** Without trailing full stops and hyphens, which belong to the sentence. */
function withoutPunctuation(name: string): string {
	let end = name.length;
	while (end > 1 && (name.charAt(end - 1) === '.' || name.charAt(end - 1) === '-')) end -= 1;
	return name.slice(0, end);
}

export function writtenNames(text: string): WrittenNames {
	const users = new Set<string>();
	const channels = new Set<string>();
	for (const [, , sign, name] of text.matchAll(TOKEN)) {
		if (name === undefined || users.size + channels.size >= MAX_NAMES) continue;
		(sign === '@' ? users : channels).add(withoutPunctuation(name));
	}
	return { users: [...users], channels: [...channels] };
}

/** How a user is mentioned. Messages have only the id, because the name may change; slash commands have both, as at Slack. */
export type Mention = (user: string, name: string) => string;
const byId: Mention = (user) => `<@${user}>`;
export const byIdAndName: Mention = (user, name) => `<@${user}|${name}>`;

/** Replaces known names; the maps give ids by name. */
export function linkNames(
	text: string,
	users: ReadonlyMap<string, string>,
	channels: ReadonlyMap<string, string>,
	mention = byId,
): string {
	return text.replace(TOKEN, (whole: string, before?: string, sign?: string, written?: string) => {
		if (written === undefined) return whole;
		const name = withoutPunctuation(written);
		const link = sign === '@' ? mentionOf(name, users, mention) : channelLink(name, channels);
		return link === undefined ? whole : `${before ?? ''}${link}${written.slice(name.length)}`;
	});
}

function mentionOf(name: string, users: ReadonlyMap<string, string>, mention: Mention): string | undefined {
	if (Object.hasOwn(TO_ALL, name)) return TO_ALL[name];
	const user = users.get(name);
	return user === undefined ? undefined : mention(user, name);
}

function channelLink(name: string, channels: ReadonlyMap<string, string>): string | undefined {
	const channel = channels.get(name);
	return channel === undefined ? undefined : `<#${channel}|${name}>`;
}
