import { FILE_STATES, type FileState, filesIn } from '../../model/files.ts';
import type { Message } from '../../model/message.ts';
import type { FileQuery, FileRecord, FileShare, Files, NewFile } from '../ports/files.ts';
import { flag, integerParam, list, type Param, type SqlReader, textParam } from './sql.ts';
import {
	type BoundWrite,
	deleteFrom,
	erasing,
	insertInto,
	statement,
	update,
	type Writes,
} from './write-sql.ts';

/** SQL of the metadata of files, and of the messages that contain them. */

const { awaited, stored, complete, deleting, deleted, abandoned } = FILE_STATES;

/** Checks the quota and inserts in one statement, so that two uploads to one process cannot both take the last space. */
const RESERVE = statement(
	'files',
	`INSERT INTO files (id, team, user_id, name, title, mimetype, alt_text, snippet_type, secret, size, created_ts,
		state, object, channels, width, height)
	SELECT ${[1, 2, 3, 4, 5, 6, 7, 8, 9].map(textParam).join(', ')}, ${integerParam(10)}, ${integerParam(11)}, ${awaited}, '', '[]', 0, 0
	WHERE (SELECT COALESCE(SUM(f.size), 0) FROM files f WHERE f.team = $2 AND f.state < 4) + ${integerParam(10)} <= ${integerParam(12)}
		AND (SELECT COUNT(*) FROM files u WHERE u.user_id = $3 AND u.state < 2) < ${integerParam(13)}`,
);
const UPLOADED = statement(
	'files',
	`UPDATE files SET state = ${stored}, object = $2, width = $3, height = $4 WHERE id = $1 AND state < ${complete}`,
);
const COMPLETE = statement(
	'files',
	`UPDATE files SET state = ${complete}, title = $2, channels = $3 WHERE id = $1 AND state = ${stored}`,
);
const REOPEN = statement(
	null,
	`UPDATE files SET state = ${stored}, channels = '[]' WHERE state = ${complete} AND id IN (SELECT item FROM EACH_TEXT($1) AS wanted)
		AND NOT EXISTS (SELECT 1 FROM file_shares s WHERE s.file = files.id)`,
);
const BEGIN_DELETE = update('files', { state: String(deleting) }, { id: 1, state: `= ${complete}` });
const DELETED = [
	erasing(
		update(
			'files',
			{ state: String(deleted), name: "''", title: "''", alt_text: "''", object: "''", size: '0' },
			{ id: 1, state: `= ${deleting}` },
		),
	),
	deleteFrom('file_shares', { file: 1 }),
];
const ABANDON = statement(
	'files',
	`UPDATE files SET state = ${abandoned} WHERE state IN (${awaited}, ${stored}) AND created_ts < $1`,
);
const DELETE = erasing(deleteFrom('files', { id: 1, state: `= ${abandoned}` }));

const COLUMNS = `f.id, f.team, f.user_id, f.name, f.title, f.mimetype, f.alt_text, f.snippet_type, f.size, f.created_ts, f.state,
	f.secret, f.object, f.channels, f.width, f.height`;
const GET = `SELECT ${COLUMNS} FROM files f WHERE f.id IN (SELECT item FROM EACH_TEXT($1) AS wanted)`;
const IN_STATE = `SELECT ${COLUMNS} FROM files f WHERE f.state = $1 AND f.created_ts < $2 ORDER BY f.created_ts LIMIT $3`;
const SHARES = `SELECT s.conversation, c.kind, c.name, s.ts, s.thread_ts FROM file_shares s
	JOIN conversations c ON c.id = s.conversation WHERE s.file = $1 ORDER BY s.ts, s.conversation`;

/** Conditions on file `f`, with $1 to $8 of `paramsOf`. */
const LISTED = `f.team = $1 AND f.state = ${complete} AND f.created_ts >= $6 AND f.created_ts <= $7
	AND (f.user_id = $2 OR EXISTS (SELECT 1 FROM file_shares s JOIN conversations c ON c.id = s.conversation
		WHERE s.file = f.id AND ((c.kind = 'public' AND $3 = 0) OR EXISTS (SELECT 1 FROM members b
			WHERE b.user_id = $2 AND b.conversation = c.id AND b.member = 1))))
	AND ($4 = '' OR f.user_id = $4)
	AND ($5 = '' OR EXISTS (SELECT 1 FROM file_shares p WHERE p.file = f.id AND p.conversation = $5))
	AND ($8 = '[]' OR EXISTS (SELECT 1 FROM EACH_TEXT($8) AS wanted WHERE f.mimetype LIKE wanted.item))`;
const LIST = `SELECT ${COLUMNS} FROM files f WHERE ${LISTED} ORDER BY f.created_ts DESC, f.id DESC LIMIT $9 OFFSET $10`;
const TOTAL = `SELECT COUNT(*) AS total FROM files f WHERE ${LISTED}`;

interface Row {
	readonly id: string;
	readonly team: string;
	readonly user_id: string;
	readonly name: string;
	readonly title: string;
	readonly mimetype: string;
	readonly alt_text: string;
	readonly snippet_type: string;
	readonly size: number;
	readonly created_ts: number;
	readonly state: number;
	readonly secret: string;
	readonly object: string;
	readonly channels: string;
	readonly width: number;
	readonly height: number;
}

const STATES = Object.keys(FILE_STATES) as FileState[];

const fileOf = ({
	user_id,
	alt_text,
	snippet_type,
	created_ts,
	state,
	channels,
	...row
}: Row): FileRecord => ({
	...row,
	user: user_id,
	altText: alt_text,
	snippetType: snippet_type,
	createdTs: created_ts,
	state: STATES[state] as FileState,
	channels: JSON.parse(channels) as string[],
});

interface ShareRow extends Omit<FileShare, 'threadTs'> {
	readonly thread_ts: number | null;
}

const reserveParams = (file: NewFile): Param[] => [
	file.id,
	file.team,
	file.user,
	file.name,
	file.title,
	file.mimetype,
	file.altText,
	file.snippetType,
	file.secret,
	file.size,
	file.createdTs,
];

const paramsOf = (query: FileQuery): Param[] => [
	query.team,
	query.reader,
	flag(query.memberOnly),
	query.user ?? '',
	query.conversation ?? '',
	query.after,
	query.before,
	list(query.types),
];

export function filesOn(reader: SqlReader, execute: (writes: readonly BoundWrite[]) => Promise<void>): Files {
	const get = async (ids: readonly string[]): Promise<readonly FileRecord[]> => {
		const rows = await reader.all<Row>(GET, [list(ids)]);
		const found = new Map(rows.map((row) => [row.id, fileOf(row)]));
		return ids.flatMap((id) => found.get(id) ?? []);
	};
	const one = async (id: string): Promise<FileRecord | undefined> => (await get([id]))[0];
	const reopen = (ids: readonly string[]): Promise<void> => execute([{ write: REOPEN, params: [list(ids)] }]);
	return {
		get,
		async reserve(file, { teamBytes, unfinished }) {
			await execute([{ write: RESERVE, params: [...reserveParams(file), teamBytes, unfinished] }]);
			return (await one(file.id)) !== undefined;
		},
		async uploaded(id, object, { width, height }) {
			await execute([{ write: UPLOADED, params: [id, object, width, height] }]);
			const file = await one(id);
			return file?.object === object;
		},
		async complete(files, channels) {
			const before = await get(files.map(({ id }) => id));
			const isCompletable = ({ state, channels: had }: FileRecord): boolean =>
				state === 'stored' || (state === 'complete' && list(had) === list(channels));
			if (before.length < files.length || !before.every(isCompletable)) return false;
			const params = ({ id, title }: { id: string; title: string }): Param[] => [id, title, list(channels)];
			await execute(files.map((file) => ({ write: COMPLETE, params: params(file) })));
			const after = await get(files.map(({ id }) => id));
			const completed = after.filter(
				({ state, channels: has }) => state === 'complete' && list(has) === list(channels),
			);
			if (completed.length === files.length) return true;
			// Another call took some of the files in the meantime: undo what this one did to the others.
			const wasStored = new Set(before.filter(({ state }) => state === 'stored').map(({ id }) => id));
			await reopen(completed.map(({ id }) => id).filter((id) => wasStored.has(id)));
			return false;
		},
		reopen,
		async shares({ id }) {
			const rows = await reader.all<ShareRow>(SHARES, [id]);
			return rows.map(({ thread_ts, ...row }) => ({ ...row, threadTs: thread_ts }));
		},
		async list(query) {
			const params = paramsOf(query);
			const [[count], rows] = await Promise.all([
				reader.all<{ total: number }>(TOTAL, params),
				reader.all<Row>(LIST, [...params, query.limit, query.offset]),
			]);
			return { files: rows.map(fileOf), total: count?.total ?? 0 };
		},
		beginDelete: (id) => execute([{ write: BEGIN_DELETE, params: [id] }]),
		deleted: (id) => execute(DELETED.map((write) => ({ write, params: [id] }))),
		abandon: (before) => execute([{ write: ABANDON, params: [before] }]),
		async inState(state, before, limit) {
			return (await reader.all<Row>(IN_STATE, [FILE_STATES[state], before, limit])).map(fileOf);
		},
		remove: (id) => execute([{ write: DELETE, params: [id] }]),
	};
}

const SHARE = insertInto('file_shares', { file: 1, conversation: 2, ts: 3, thread_ts: 4 }, 'ignore');
const UNSHARE = deleteFrom('file_shares', { conversation: 1, ts: 2 });

/** Records the files of a message, in the transaction of the message. */
export function writeShares({ conversation, ts, threadTs, extra }: Message, into: Writes): void {
	for (const { id } of filesIn(extra)) into.add(SHARE, [id, conversation, ts, threadTs]);
}

/** When the message is deleted. The files stay. */
export function deleteShares({ conversation, ts, extra }: Message, into: Writes): void {
	if (filesIn(extra).length > 0) into.add(UNSHARE, [conversation, ts]);
}
