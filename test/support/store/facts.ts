import type { Fact, ReadFact } from '../../../src/engine/ports/facts.ts';
import type { Token, User } from '../../../src/engine/ports/store.ts';
import { type Conversation, NO_CHANNEL_TEXT } from '../../../src/model/conversation.ts';
import type { Message } from '../../../src/model/message.ts';
import type { Effect } from '../../../src/sequencer/effects.ts';

/** Facts as the sequencer and the read state produce them, with plain defaults. */

export const TEAM = 'T01';
/** A stamp of long ago, so that every start of a store is later than the facts. */
export const BEGIN = 1_700_000_000_000_000;

export const conversation = (id: string, fields: Partial<Conversation> = {}): Conversation => ({
	id,
	team: TEAM,
	kind: 'public',
	name: id.toLowerCase(),
	creator: 'U01',
	createdTs: BEGIN,
	archived: false,
	topic: NO_CHANNEL_TEXT,
	purpose: NO_CHANNEL_TEXT,
	previousNames: [],
	memberCount: 0,
	people: [],
	changedTs: BEGIN,
	...fields,
});

export const message = (of: string, ts: number, fields: Partial<Message> = {}): Message => ({
	conversation: of,
	ts,
	user: 'U01',
	text: `text of ${ts}`,
	threadTs: null,
	broadcast: false,
	clientMsgId: null,
	named: [],
	channelWide: false,
	here: false,
	editedTs: null,
	changedTs: ts,
	deleted: false,
	extra: null,
	...fields,
});

export const created = (
	subject: Conversation,
	members: readonly string[],
	at = subject.createdTs,
): Effect => ({
	type: 'created',
	conversation: { ...subject, memberCount: members.length },
	at,
	members,
	actor: subject.creator,
});

export const posted = (subject: Conversation, said: Message): Effect => ({
	type: 'posted',
	conversation: subject,
	at: said.ts,
	message: said,
	prevTs: null,
	thread: null,
});

/** Messages of U01, one for each step from `from` up to `to`, which is exclusive. */
export const postsIn = (subject: Conversation, from: number, to: number): Effect[] =>
	Array.from({ length: to - from }, (_, index) => posted(subject, message(subject.id, BEGIN + from + index)));

export const edited = (
	subject: Conversation,
	previous: Message,
	at: number,
	text: string,
	fields: Partial<Message> = {},
): Effect => ({
	type: 'edited',
	conversation: subject,
	at,
	message: { ...previous, text, editedTs: at, changedTs: at, ...fields },
	previous,
	thread: null,
});

export const deleted = (subject: Conversation, previous: Message, at: number): Effect => ({
	type: 'deleted',
	conversation: subject,
	at,
	message: { ...previous, text: '', extra: null, named: [], deleted: true, changedTs: at },
	previous,
	tombstone: false,
	thread: null,
});

export const joined = (
	subject: Conversation,
	users: readonly string[],
	at: number,
	cursor: number,
	memberCount = users.length,
): Effect => ({
	type: 'joined',
	conversation: { ...subject, memberCount },
	at,
	users,
	inviter: null,
	cursor,
	latest: 0,
});

export const left = (subject: Conversation, user: string, at: number, memberCount = 0): Effect => ({
	type: 'left',
	conversation: { ...subject, memberCount },
	at,
	user,
	actor: user,
});

export const changed = (
	previous: Conversation,
	what: Extract<Effect, { type: 'changed' }>['what'],
	at: number,
	fields: Partial<Conversation>,
): Extract<Effect, { type: 'changed' }> => ({
	type: 'changed',
	conversation: { ...previous, ...fields, changedTs: at },
	at,
	what,
	actor: 'U01',
	previous,
});

export const followed = (
	subject: Conversation,
	user: string,
	threadTs: number,
	at: number,
	cursor: number,
): Effect => ({ type: 'followed', conversation: subject, at, user, threadTs, cursor });

export const unfollowed = (subject: Conversation, user: string, threadTs: number, at: number): Effect => ({
	type: 'unfollowed',
	conversation: subject,
	at,
	user,
	threadTs,
});

/** `count`: the number of reactions with this name afterwards. The effect lists only this user. */
export const reacted = (
	subject: Conversation,
	to: Message,
	user: string,
	name: string,
	at: number,
	count: number,
	added = true,
): Effect => ({
	type: 'reacted',
	conversation: subject,
	at,
	ts: to.ts,
	author: to.user,
	name,
	user,
	added,
	current: count === 0 ? null : { name, count, users: [user], firstTs: to.ts + 1 },
});

type CursorFact = Extract<ReadFact, { type: 'cursor' }>;

export const cursor = (
	user: string,
	of: string,
	ts: number,
	at: number,
	fields: Partial<Pick<CursorFact, 'revision' | 'ahead' | 'of'>> = {},
): Fact => ({ type: 'cursor', user, conversation: of, at, cursor: ts, revision: 0, ...fields });

export const user = (id: string, fields: Partial<User> = {}): User => ({
	id,
	team: TEAM,
	name: id.toLowerCase(),
	realName: `Person ${id}`,
	email: `${id.toLowerCase()}@example.org`,
	isBot: false,
	deleted: false,
	updatedTs: BEGIN,
	signedOutTs: 0,
	profile: {},
	snoozedUntilTs: 0,
	...fields,
});

export const token = (hash: string, of: string): Token => ({
	hash,
	user: of,
	team: TEAM,
	createdTs: BEGIN,
	revokedTs: null,
	expiresTs: null,
});

/** For `apply`, in tests that do not write moved cursors to a store. */
export const asIs = <T>(moved: T): T => moved;
