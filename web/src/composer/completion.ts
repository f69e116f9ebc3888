import type { Conversation, User } from '@tidemark/client';
import type { AppFeatures, Shortcut } from '../apps/features.ts';
import { findEmoji } from '../message/emoji.ts';
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
	/** Shown in place of a picture if the candidate is not a person. */
	readonly sign: string;
	/** A shortcut of an app: it runs at once, and no text is inserted. */
	readonly shortcut?: Shortcut;
}

/** What can be completed. */
export interface Known {
	readonly users: Iterable<User>;
	readonly conversations: Iterable<Conversation>;
	readonly features: AppFeatures;
}

/** The name that the user is typing: its sign and the text after it. */
interface Written {
	readonly sign: '@' | '#' | ':' | '/';
	readonly text: string;
}

const WRITTEN = /(?:^|[\s(])([@#:])([\p{L}\p{N}_.+-]*)$/u;
const SLASH = /^\/([\p{L}\p{N}_-]*)$/u;
const MAX_CANDIDATES = 8;
/** A colon also starts `:)`, times and lists, so emoji are suggested only from the second letter on. */
const MIN_EMOJI_LETTERS = 2;
const GROUPS: readonly Candidate[] = [
	{ handle: '@channel', label: 'Everyone in the conversation', id: '', sign: '@' },
	{ handle: '@here', label: 'Everyone who is active now', id: '', sign: '@' },
];

/** The name before the caret; null if the caret is not in a name. */
export function writtenName(text: string, caret: number): Written | null {
	const [, command] = SLASH.exec(text.slice(0, caret)) ?? [];
	if (command !== undefined) return { sign: '/', text: command };
	const [, sign, written] = WRITTEN.exec(text.slice(0, caret)) ?? [];
	if (sign === undefined || written === undefined) return null;
	if (sign === ':' && written.length < MIN_EMOJI_LETTERS) return null;
	return { sign: sign as Written['sign'], text: written };
}

export function candidatesFor(
	{ sign, text }: Written,
	{ users, conversations, features }: Known,
): readonly Candidate[] {
	const wanted = text.toLowerCase();
	if (sign === '@') return people(wanted, users);
	if (sign === '/') return commandsAndShortcuts(wanted, features);
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
	return [...found, ...groups].slice(0, MAX_CANDIDATES);
}

const channels = (wanted: string, conversations: Iterable<Conversation>): readonly Candidate[] =>
	[...conversations]
		.filter((conversation) => isChannel(conversation) && conversation.name.includes(wanted))
		.sort(
			(a, b) =>
				Number(b.name.startsWith(wanted)) - Number(a.name.startsWith(wanted)) || (a.name < b.name ? -1 : 1),
		)
		.slice(0, MAX_CANDIDATES)
		.map(({ name, topic }) => ({ handle: `#${name}`, label: topic || name, id: '', sign: '#' }));

/** Empty if the command is typed completely: then Enter sends it. */
function commandsAndShortcuts(wanted: string, { commands, shortcuts }: AppFeatures): readonly Candidate[] {
	if (commands.some(({ name }) => name === `/${wanted}`)) return [];
	const matching = commands
		.filter(({ name }) => name.startsWith(`/${wanted}`))
		.map(({ name, desc, usage }) => ({ handle: name, label: desc || usage || name, id: '', sign: '/' }));
	const global = shortcuts
		.filter(({ type, name }) => type === 'global' && name.toLowerCase().startsWith(wanted))
		.map((shortcut) => ({
			handle: `${shortcut.app_name}: ${shortcut.callback_id}`,
			label: shortcut.name,
			id: '',
			sign: '⚡',
			shortcut,
		}));
	return [...matching, ...global].slice(0, MAX_CANDIDATES);
}

const emoji = (wanted: string): readonly Candidate[] =>
	findEmoji(wanted, MAX_CANDIDATES).map(([name, sign]) => ({
		handle: `:${name}:`,
		label: name,
		id: '',
		sign,
	}));

/** The text with the completed name, and the new place of the caret. */
export function complete(text: string, caret: number, handle: string): { text: string; caret: number } {
	const written = writtenName(text, caret);
	const length = written ? written.sign.length + written.text.length : 0;
	const before = `${text.slice(0, caret - length)}${handle} `;
	return { text: before + text.slice(caret).replace(/^ /, ''), caret: before.length };
}
