import type { Conversation, User } from '@tidemark/client';
import type { Offers, Shortcut } from '../apps/offers.ts';
import { emojiStarting } from '../message/emoji.ts';
import { canBeNamed, isChannel } from '../session/names.ts';

/**
 * What one may mean by what stands before the caret: a person after @, a channel after #, an emoji after a colon, and after a
 * slash that everything begins with, what apps offer.
 */

export interface Candidate {
	/** What is written for it, its sign included. */
	readonly handle: string;
	readonly label: string;
	/** Of a person; empty for everything else. */
	readonly id: string;
	/** Stands in the place of a picture, where it is nobody. */
	readonly sign: string;
	/** Done at once, instead of being written: a shortcut of an app. */
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
/** After a colon come many other things: `:)`, times, lists. */
const LEAST_OF_EMOJI = 2;
const GROUPS: readonly Candidate[] = [
	{ handle: '@channel', label: 'Everyone in the conversation', id: '', sign: '@' },
	{ handle: '@here', label: 'Everyone who is online now', id: '', sign: '@' },
];

/** What was written after a sign before the caret; null where nothing is being named. */
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

/** Nothing for a command that is written already: Enter sends it. */
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
