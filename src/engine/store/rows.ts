import type { ChannelText, Conversation } from '../../model/conversation.ts';
import type { ConversationKind } from '../../model/ids.ts';
import type { Message } from '../../model/message.ts';
import type { EntryRow } from '../ports/store.ts';

/** Rows of conversations and messages, and their conversion to the model. */

export const CONVERSATION_COLUMNS =
	'id, team, kind, name, creator, created_ts, archived, topic, purpose, previous_names, member_count, ' +
	'people, changed_ts';

export interface ConversationRow {
	readonly id: string;
	readonly team: string;
	readonly kind: ConversationKind;
	readonly name: string;
	readonly creator: string;
	readonly created_ts: number;
	readonly archived: number;
	readonly topic: string;
	readonly purpose: string;
	readonly previous_names: string;
	readonly member_count: number;
	readonly people: string;
	readonly changed_ts: number;
}

const NOBODY: readonly string[] = [];
const parseList = (json: string | null): readonly string[] =>
	json === null || json === '[]' ? NOBODY : (JSON.parse(json) as string[]);

export const conversationOf = (row: ConversationRow): Conversation => ({
	id: row.id,
	team: row.team,
	kind: row.kind,
	name: row.name,
	creator: row.creator,
	createdTs: row.created_ts,
	archived: row.archived === 1,
	topic: JSON.parse(row.topic) as ChannelText,
	purpose: JSON.parse(row.purpose) as ChannelText,
	previousNames: parseList(row.previous_names),
	memberCount: row.member_count,
	people: parseList(row.people),
	changedTs: row.changed_ts,
});

/** Columns of table `alias`. */
const columnsOf = (alias: string, names: readonly string[]): string =>
	names.map((name) => `${alias}.${name}`).join(', ');

/** Columns of message `m`. */
export const MESSAGE_COLUMNS = columnsOf('m', [
	'conversation',
	'ts',
	'user_id',
	'text',
	'thread_ts',
	'broadcast',
	'client_msg_id',
	'named',
	'channel_wide',
	'here',
	'edited_ts',
	'changed_ts',
	'deleted',
	'extra',
]);

/** Size of message `m`, as in `bytesOf`. */
export const MESSAGE_BYTES = 'octet_length(m.text) + COALESCE(octet_length(m.extra), 0)';

export interface MessageRow {
	readonly conversation: string;
	readonly ts: number;
	readonly user_id: string;
	readonly text: string;
	readonly thread_ts: number | null;
	readonly broadcast: number;
	readonly client_msg_id: string | null;
	readonly named: string | null;
	readonly channel_wide: number;
	readonly here: number;
	readonly edited_ts: number | null;
	readonly changed_ts: number;
	readonly deleted: number;
	readonly extra: string | null;
}

export const messageOf = (row: MessageRow): Message => ({
	conversation: row.conversation,
	ts: row.ts,
	user: row.user_id,
	text: row.text,
	threadTs: row.thread_ts,
	broadcast: row.broadcast === 1,
	clientMsgId: row.client_msg_id,
	named: parseList(row.named),
	channelWide: row.channel_wide === 1,
	here: row.here === 1,
	editedTs: row.edited_ts,
	changedTs: row.changed_ts,
	deleted: row.deleted === 1,
	extra: row.extra,
});

/** Columns of message `m` that counting needs. */
export const ENTRY_COLUMNS = columnsOf('m', ['ts', 'user_id', 'broadcast', 'named', 'channel_wide', 'here']);

export type EntryColumns = Pick<
	MessageRow,
	'ts' | 'user_id' | 'broadcast' | 'named' | 'channel_wide' | 'here'
>;

export const entryOf = (row: EntryColumns): EntryRow => ({
	ts: row.ts,
	user: row.user_id,
	broadcast: row.broadcast === 1,
	channelWide: row.channel_wide === 1,
	here: row.here === 1,
	named: parseList(row.named),
});

/** Whether a message, `m` by default, is in the timeline unless deleted: roots and broadcast replies. */
export const belongsToTimeline = (alias = 'm'): string =>
	`(${alias}.thread_ts IS NULL OR ${alias}.broadcast = 1)`;
export const isInTimeline = (alias = 'm'): string => `${belongsToTimeline(alias)} AND ${alias}.deleted = 0`;
/**
 * Condition on a membership: its user's ahead set has the message. The embedded engine stores the set in the table `read_ahead`. A
 * cluster stores it as a list in the row of the membership (migrations/0003-early-marks.ts). All ts have 16 digits, so the search in
 * the text of the list is exact.
 */
export const isReadAhead = (member: string, ts: string): string =>
	`(EXISTS (SELECT 1 FROM read_ahead a
		WHERE a.user_id = ${member}.user_id AND a.conversation = ${member}.conversation AND a.ts = ${ts})
		OR ${member}.ahead LIKE '%' || CAST(CAST(${ts} AS BIGINT) AS TEXT) || '%')`;
/** The condition of the index `messages_that_mention`. */
export const MENTIONS_SOMEBODY = '(m.named IS NOT NULL OR m.channel_wide = 1 OR m.here = 1)';
