/**
 * Names that people write, `@ada` and `#quay`, as Slack's `link_names` links them. What is code, a link or a mention already stays
 * as it is. Pure: whose names these are is looked up in between.
 */

export interface WrittenNames {
	readonly users: readonly string[];
	readonly channels: readonly string[];
}

/** So many different names are looked up; further ones stay text. */
const MOST_NAMES = 100;

/** Kept as it is, or a name with what stands before it. */
const TOKEN =
	/```[\s\S]*?```|`[^`\n]+`|<[^<>\n]{1,3000}>|(^|[\s([{"',;])([@#])([\p{L}\p{N}_][\p{L}\p{N}._-]{0,79})/gu;

const TO_ALL: Readonly<Record<string, string>> = {
	channel: '<!channel>',
	everyone: '<!everyone>',
	here: '<!here>',
};

/** A full stop behind a name ends the sentence. */
function withoutEnd(name: string): string {
	let end = name.length;
	while (end > 1 && (name.charAt(end - 1) === '.' || name.charAt(end - 1) === '-')) end -= 1;
	return name.slice(0, end);
}

export function writtenNames(text: string): WrittenNames {
	const users = new Set<string>();
	const channels = new Set<string>();
	for (const [, , sign, name] of text.matchAll(TOKEN)) {
		if (name === undefined || users.size + channels.size >= MOST_NAMES) continue;
		(sign === '@' ? users : channels).add(withoutEnd(name));
	}
	return { users: [...users], channels: [...channels] };
}

/** The text with the names that are somebody's as mentions and links; ids by name. */
export function linkNames(
	text: string,
	users: ReadonlyMap<string, string>,
	channels: ReadonlyMap<string, string>,
): string {
	return text.replace(TOKEN, (whole: string, before?: string, sign?: string, written?: string) => {
		if (written === undefined) return whole;
		const name = withoutEnd(written);
		const link = sign === '@' ? mentionOf(name, users) : channelLink(name, channels);
		return link === undefined ? whole : `${before ?? ''}${link}${written.slice(name.length)}`;
	});
}

function mentionOf(name: string, users: ReadonlyMap<string, string>): string | undefined {
	if (Object.hasOwn(TO_ALL, name)) return TO_ALL[name];
	const user = users.get(name);
	return user === undefined ? undefined : `<@${user}>`;
}

function channelLink(name: string, channels: ReadonlyMap<string, string>): string | undefined {
	const channel = channels.get(name);
	return channel === undefined ? undefined : `<#${channel}|${name}>`;
}
