import type { Conversation, User } from '@tidemark/client';
import type { Offers, Shortcut } from '../apps/offers.ts';
import { emojiStarting } from '../message/emoji.ts';
import { canBeNamed, isChannel } from '../session/names.ts';

/**
 * Completions for the text before the caret: people after @, channels after #, emoji after a colon, and commands and shortcuts of apps
 * after a slash at the beginning.
 */

export interface Candidate {
	/** The text to insert, including its sign. */
	readonly handle: string;
	readonly label: string;
	/** The id of a person; otherwise empty. */
	readonly id: string;
	/** Shown in place of a picture, if it is not a person. */
	readonly sign: string;
	/** Runs at once instead of inserting text: a shortcut of an app. */
	readonly shortcut?: Shortcut;
}

export interface Known {
	readonly users: Iterable<User>;
	readonly conversations: Iterable<Conversation>;
	readonly offers: Offers;
}

interface Written {
	readonly sign: '@' | '#' | ':' | '/';
	readonly text: string;
}

const WRITTEN = /(?:^|[\s(])([@#:])([\p{L}\p{N}_.+-]*)$/u;
const SLASH = /^\/([\p{L}\p{N}_-]*)$/u;
const MOST = 8;
/** A colon also starts `:)`, times and lists, so emoji need more letters. */
const LEAST_OF_EMOJI = 2;
const GROUPS: readonly Candidate[] = [
	{ handle: '@channel', label: 'Everyone in the conversation', id: '', sign: '@' },
	{ handle: '@here', label: 'Everyone who is online now', id: '', sign: '@' },
];

/** The text between a sign and the caret; null if the caret is not in a name. */
export function writtenName(text: string, caret: number): Written | null {
	const [, offered] = SLASH.exec(text.slice(0, caret)) ?? [];
	if (offered !== undefined) return { sign: '/', text: offered };
	const [, sign, written] = WRITTEN.exec(text.slice(0, caret)) ?? [];
	if (sign === undefined || written === undefined) return null;
	if (sign === ':' && written.length < LEAST_OF_EMOJI) return null;
	return { sign: sign as Written['sign'], text: written };
}

export function candidatesFor(
	{ sign, text }: Written,
	{ users, conversations, offers }: Known,
): readonly Candidate[] {
	const wanted = text.toLowerCase();
	if (sign === '@') return people(wanted, users);
	if (sign === '/') return offered(wanted, offers);
	return sign === '#' ? channels(wanted, conversations) : emoji(wanted);
}

function people(wanted: string, users: Iterable<User>): readonly Candidate[] {
	const rank = (user: User): number => {
		if (user.name.toLowerCase().startsWith(wanted)) return 0;
		return user.realName
			.toLowerCase()
			.split(/\s+/)
			.some((word) => word.startsWith(wanted))
			? 1
			: 2;
	};
	const found = [...users]
		.filter((user) => canBeNamed(user) && rank(user) < 2)
		.sort((a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1))
		.map((user) => ({ handle: `@${user.name}`, label: user.realName || user.name, id: user.id, sign: '@' }));
	const groups = GROUPS.filter(({ handle }) => handle.startsWith(`@${wanted}`));
	return [...found, ...groups].slice(0, MOST);
}

const channels = (wanted: string, conversations: Iterable<Conversation>): readonly Candidate[] =>
	[...conversations]
		.filter((conversation) => isChannel(conversation) && conversation.name.includes(wanted))
		.sort(
			(a, b) =>
				Number(b.name.startsWith(wanted)) - Number(a.name.startsWith(wanted)) || (a.name < b.name ? -1 : 1),
		)
		.slice(0, MOST)
		.map(({ name, topic }) => ({ handle: `#${name}`, label: topic || name, id: '', sign: '#' }));

/** Empty for a command that is complete: Enter sends it. */
function offered(wanted: string, { commands, shortcuts }: Offers): readonly Candidate[] {
	if (commands.some(({ name }) => name === `/${wanted}`)) return [];
	const written = commands
		.filter(({ name }) => name.startsWith(`/${wanted}`))
		.map(({ name, desc, usage }) => ({ handle: name, label: desc || usage || name, id: '', sign: '/' }));
	const done = shortcuts
		.filter(({ type, name }) => type === 'global' && name.toLowerCase().startsWith(wanted))
		.map((shortcut) => ({
			handle: `${shortcut.app_name}: ${shortcut.callback_id}`,
			label: shortcut.name,
			id: '',
			sign: '⚡',
			shortcut,
		}));
	return [...written, ...done].slice(0, MOST);
}

const emoji = (wanted: string): readonly Candidate[] =>
	emojiStarting(wanted, MOST).map(([name, sign]) => ({ handle: `:${name}:`, label: name, id: '', sign }));

/** The text with the name completed, and where the caret goes. */
export function complete(text: string, caret: number, handle: string): { text: string; caret: number } {
	const written = writtenName(text, caret);
	const length = written ? written.sign.length + written.text.length : 0;
	const before = `${text.slice(0, caret - length)}${handle} `;
	return { text: before + text.slice(caret).replace(/^ /, ''), caret: before.length };
}
