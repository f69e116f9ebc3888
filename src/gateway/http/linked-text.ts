import { linkNames, writtenNames } from '../../model/link-names.ts';
import type { UserCall } from './method.ts';

/** The text with `@name` and `#name` as mentions and links, as `link_names` asks for. Only public channels are linked. */
export async function linkedText({ services, caller }: UserCall, text: string): Promise<string> {
	const names = writtenNames(text);
	if (names.users.length + names.channels.length === 0) return text;
	const { directory } = services;
	const users = await directory.usersNamed(caller.team, names.users);
	const ids = await Promise.all(names.channels.map((name) => directory.channelNamed(caller.team, name)));
	const channels = await directory.conversations(ids.filter((id) => id !== null));
	return linkNames(
		text,
		new Map(users.filter(({ deleted }) => !deleted).map(({ id, name }) => [name, id])),
		new Map(channels.filter(({ kind }) => kind === 'public').map(({ id, name }) => [name, id])),
	);
}
