/**
 * Ids in the form that Slack's apps expect: the first letter is the type.
 * Random bytes are passed in, so that a simulation can repeat a run from its seed.
 */

export type ConversationKind = 'public' | 'private' | 'im' | 'mpim';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ';
const BODY_LENGTH = 10;

/** Returns random bytes, for example from `crypto.getRandomValues`. */
export type RandomBytes = (count: number) => Uint8Array;

export const PREFIX_OF_KIND: Readonly<Record<ConversationKind, string>> = {
	public: 'C',
	private: 'C',
	im: 'D',
	mpim: 'G',
};

export function newId(prefix: string, random: RandomBytes): string {
	let id = prefix;
	while (id.length < prefix.length + BODY_LENGTH) {
		for (const byte of random(BODY_LENGTH * 2)) {
			// 252 is the largest multiple of 36 in a byte: larger bytes would favour the first letters.
			if (byte < 252 && id.length < prefix.length + BODY_LENGTH) id += ALPHABET[byte % 36];
		}
	}
	return id;
}

/**
 * The id of the direct message between these users. It is derived from their ids, so two users who open it
 * at the same moment get the same conversation without a lock. `digest` returns 32 bytes. It is
 * keyed, so that outsiders cannot compute the id; without a key, the id is that of older releases.
 */
export function directId(
	kind: 'im' | 'mpim',
	team: string,
	users: readonly string[],
	digest: (text: string) => Uint8Array,
): string {
	const members = [...new Set(users)].sort();
	const bytes = digest([team, ...members].join(' '));
	return newId(PREFIX_OF_KIND[kind], () => bytes);
}

/**
 * The id of the channel that every person of a workspace is in. It is derived from the workspace's id, so that rules recognise the
 * channel without a read, and is longer than ids from `newId`. A workspace need not have such a channel.
 */
export const generalChannelOf = (team: string): string => `${PREFIX_OF_KIND.public}${team.slice(1)}GENERAL`;

/** Slack's own bot, which apps expect in every workspace. It cannot sign in and is a member of no conversation. */
export const SLACKBOT_ID = 'USLACKBOT';

const shape = (letters: string) => new RegExp(`^[${letters}][A-Z0-9]{2,20}$`);
const TEAM = shape('T');
const USER = shape('UW');
const CONVERSATION = shape('CDG');

export const isTeamId = (text: string): boolean => TEAM.test(text);
export const isUserId = (text: string): boolean => USER.test(text);
export const isConversationId = (text: string): boolean => CONVERSATION.test(text);

export const isDirect = (kind: ConversationKind): boolean => kind === 'im' || kind === 'mpim';

/** Identifies a thread in a map; no conversation id has a space. */
export const threadKey = (conversation: string, threadTs: number): string => `${conversation} ${threadTs}`;
