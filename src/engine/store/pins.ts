import type { Pin } from '../../model/pins.ts';
import type { Effect } from '../../sequencer/effects.ts';
import type { PinChange } from '../ports/changes.ts';
import { IS_CHANGED_SINCE, IS_ITS_MESSAGE, inside, JOIN_MESSAGE } from './changes-since.ts';
import { flag, type SqlReader } from './sql.ts';
import { deleteFrom, insertInto, type Writes } from './write-sql.ts';

/** SQL of pins: written with their facts. */

const SET = insertInto(
	'pins',
	{ conversation: 1, ts: 2, user_id: 3, active: 4, changed_ts: 5 },
	{
		on: ['conversation', 'ts'],
		update: 'user_id = excluded.user_id, active = excluded.active, changed_ts = excluded.changed_ts',
	},
);
const DELETE = deleteFrom('pins', { conversation: 1, ts: 2 });

export const writePin = (effect: Extract<Effect, { type: 'pinned' }>, into: Writes): void =>
	into.add(SET, [effect.conversation.id, effect.ts, effect.user, flag(effect.added), effect.at]);

/** When the message is deleted. */
export const deletePin = (conversation: string, ts: number, into: Writes): void =>
	into.add(DELETE, [conversation, ts]);

const PINS = `SELECT ts, user_id, changed_ts FROM pins WHERE conversation = $1 AND active = 1 ORDER BY ts`;

export const PIN_CHANGES = inside(
	`m.conversation, m.ts, m.user_id, m.active, m.changed_ts, p.user_id AS author, substr(p.text, 1, 400) AS text,
		(SELECT count(*) FROM pins o WHERE o.conversation = m.conversation AND o.active = 1) AS pins`,
	'pins',
	`${IS_CHANGED_SINCE} AND ${IS_ITS_MESSAGE}`,
	JOIN_MESSAGE,
);

export interface PinChangeColumns {
	readonly conversation: string;
	readonly ts: number;
	readonly user_id: string;
	readonly active: number;
	readonly changed_ts: number;
	readonly author: string;
	readonly text: string;
	readonly pins: number;
}

export const pinChangeOf = (row: PinChangeColumns): PinChange => ({
	conversation: row.conversation,
	ts: row.ts,
	author: row.author,
	text: row.text,
	user: row.user_id,
	added: row.active === 1,
	at: row.changed_ts,
	count: row.pins,
});

export const readPins =
	(reader: SqlReader) =>
	async (conversation: string): Promise<readonly Pin[]> => {
		const rows = await reader.all<{ ts: number; user_id: string; changed_ts: number }>(PINS, [conversation]);
		return rows.map((row) => ({ ts: row.ts, user: row.user_id, at: row.changed_ts }));
	};
