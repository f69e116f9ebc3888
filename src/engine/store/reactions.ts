import { inOrder, type Reaction } from '../../model/reactions.ts';
import type { Effect } from '../../sequencer/effects.ts';
import type { ReactionChange } from '../ports/changes.ts';
import type { History, ReactedMessage, StateSource } from '../ports/store.ts';
import { IS_CHANGED_SINCE, IS_ITS_MESSAGE, inside, JOIN_MESSAGE } from './changes-since.ts';
import { flag, inChunks, list, type SqlReader } from './sql.ts';
import { deleteFrom, insertInto, type Writes } from './write-sql.ts';

/** SQL of reactions: written with their facts. */

const SET = insertInto(
	'reactions',
	{ conversation: 1, ts: 2, name: 3, user_id: 4, active: 5, changed_ts: 6 },
	{
		on: ['conversation', 'ts', 'name', 'user_id'],
		update: 'active = excluded.active, changed_ts = excluded.changed_ts',
	},
);
const SET_TOTAL = insertInto(
	'reaction_totals',
	{ conversation: 1, ts: 2, name: 3, user_count: 4, users: 5, first_ts: 6 },
	{
		on: ['conversation', 'ts', 'name'],
		update: 'user_count = excluded.user_count, users = excluded.users, first_ts = excluded.first_ts',
	},
);
const REMOVE_TOTAL = deleteFrom('reaction_totals', { conversation: 1, ts: 2, name: 3 });
const DELETE = deleteFrom('reactions', { conversation: 1, ts: 2 });
const DELETE_TOTALS = deleteFrom('reaction_totals', { conversation: 1, ts: 2 });

export function writeReaction(effect: Extract<Effect, { type: 'reacted' }>, into: Writes): void {
	const { ts, name, user, added, current, at } = effect;
	const conversation = effect.conversation.id;
	into.add(SET, [conversation, ts, name, user, flag(added), at]);
	if (!current) into.add(REMOVE_TOTAL, [conversation, ts, name]);
	else into.add(SET_TOTAL, [conversation, ts, name, current.count, list(current.users), current.firstTs]);
}

/** When the message is deleted. */
export function deleteReactions(conversation: string, ts: number, into: Writes): void {
	into.add(DELETE, [conversation, ts]);
	into.add(DELETE_TOTALS, [conversation, ts]);
}

const TOTALS = `SELECT t.ts, t.name, t.user_count, t.users, t.first_ts FROM EACH_INTEGER($2) AS wanted
	CROSS JOIN reaction_totals t WHERE t.conversation = $1 AND t.ts = wanted.item`;
const OWN = `SELECT t.ts, t.name FROM EACH_INTEGER($2) AS wanted CROSS JOIN reaction_totals t CROSS JOIN reactions r
	WHERE t.conversation = $1 AND t.ts = wanted.item
		AND r.conversation = t.conversation AND r.ts = t.ts AND r.name = t.name AND r.user_id = $3 AND r.active = 1`;
const REACTORS = `SELECT name, user_id FROM reactions
	WHERE conversation = $1 AND ts = $2 AND active = 1 ORDER BY changed_ts LIMIT $3`;
const REACTED = `SELECT conversation, ts, changed_ts FROM reactions
	WHERE user_id = $1 AND active = 1 AND changed_ts < $2 ORDER BY changed_ts DESC LIMIT $3`;

/** The total is the current one: live delivery covers later changes. */
export const REACTION_CHANGES = inside(
	`m.conversation, m.ts, m.name, m.user_id, m.active, m.changed_ts, p.user_id AS author, t.user_count, t.users,
		t.first_ts`,
	'reactions',
	`${IS_CHANGED_SINCE} AND ${IS_ITS_MESSAGE}`,
	`${JOIN_MESSAGE} LEFT JOIN reaction_totals t ON t.conversation = m.conversation AND t.ts = m.ts AND t.name = m.name`,
);

interface TotalColumns {
	readonly name: string;
	readonly user_count: number;
	readonly users: string;
	readonly first_ts: number;
}

export interface ReactionChangeColumns {
	readonly conversation: string;
	readonly ts: number;
	readonly name: string;
	readonly user_id: string;
	readonly active: number;
	readonly changed_ts: number;
	readonly author: string;
	readonly user_count: number | null;
	readonly users: string | null;
	readonly first_ts: number | null;
}

const reactionOf = (row: TotalColumns): Reaction => ({
	name: row.name,
	count: row.user_count,
	users: JSON.parse(row.users) as string[],
	firstTs: row.first_ts,
});

export const reactionChangeOf = (row: ReactionChangeColumns): ReactionChange => ({
	conversation: row.conversation,
	ts: row.ts,
	author: row.author,
	name: row.name,
	user: row.user_id,
	added: row.active === 1,
	at: row.changed_ts,
	current: row.users === null ? null : reactionOf(row as TotalColumns),
});

async function totals(
	reader: SqlReader,
	conversation: string,
	ts: readonly number[],
): Promise<ReadonlyMap<number, readonly Reaction[]>> {
	const rows = await inChunks(reader, ts, (chunk) =>
		reader.all<TotalColumns & { ts: number }>(TOTALS, [conversation, list(chunk)]),
	);
	const found = new Map<number, readonly Reaction[]>();
	for (const [message, ofOne] of Map.groupBy(rows, (row) => row.ts))
		found.set(message, inOrder(ofOne.map(reactionOf)));
	return found;
}

/** The user's own reactions to these messages. */
const own = (reader: SqlReader, conversation: string, ts: readonly number[], user: string) =>
	inChunks(reader, ts, (chunk) =>
		reader.all<{ ts: number; name: string }>(OWN, [conversation, list(chunk), user]),
	);

/** Adds the viewer to the users of each reaction whose list is cut, if the viewer is one of them. */
async function listing(
	viewer: string,
	reader: SqlReader,
	conversation: string,
	found: ReadonlyMap<number, readonly Reaction[]>,
): Promise<ReadonlyMap<number, readonly Reaction[]>> {
	const isCut = ({ count, users }: Reaction): boolean => count > users.length && !users.includes(viewer);
	const cut = [...found].filter(([, reactions]) => reactions.some(isCut)).map(([ts]) => ts);
	if (cut.length === 0) return found;
	const listed = new Map(found);
	for (const { ts, name } of await own(reader, conversation, cut, viewer)) {
		const withViewer = (reaction: Reaction): Reaction =>
			reaction.name === name && isCut(reaction)
				? { ...reaction, users: [...reaction.users, viewer] }
				: reaction;
		listed.set(ts, (listed.get(ts) ?? []).map(withViewer));
	}
	return listed;
}

export const readReactions = (
	reader: SqlReader,
): Pick<History, 'reactions' | 'reactors' | 'reactedTo'> & Pick<StateSource, 'reactionsFor'> => ({
	reactions: async (conversation, ts, viewer) =>
		listing(viewer, reader, conversation, await totals(reader, conversation, ts)),
	async reactors(conversation, ts, limit) {
		const rows = await reader.all<{ name: string; user_id: string }>(REACTORS, [conversation, ts, limit]);
		const found = Map.groupBy(rows, ({ name }) => name);
		return new Map([...found].map(([name, users]) => [name, users.map(({ user_id }) => user_id)]));
	},
	async reactedTo(user, before, limit) {
		const rows = await reader.all<{ conversation: string; ts: number; changed_ts: number }>(REACTED, [
			user,
			before,
			limit,
		]);
		return rows.map(
			(row): ReactedMessage => ({ conversation: row.conversation, ts: row.ts, at: row.changed_ts }),
		);
	},
	async reactionsFor(conversation, ts, user) {
		const found = await totals(reader, conversation, [ts]);
		const names = (await own(reader, conversation, [ts], user)).map(({ name }) => name);
		return { reactions: found.get(ts) ?? [], own: names };
	},
});
