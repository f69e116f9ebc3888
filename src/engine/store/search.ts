import type { Has } from '../../model/search-query.ts';
import { MAX_MATCHES, type SearchMatch, type SearchRequest } from '../ports/search.ts';
import { flag, list, type Param, type SqlReader } from './sql.ts';

/** Search on both databases: permissions, and all conditions besides words. */

const HAS: Readonly<Record<Has, string>> = {
	link: `(m.text LIKE '%http://%' OR m.text LIKE '%https://%')`,
	reaction: `EXISTS (SELECT 1 FROM reaction_totals t WHERE t.conversation = m.conversation AND t.ts = m.ts)`,
	pin: 'EXISTS (SELECT 1 FROM pins q WHERE q.conversation = m.conversation AND q.ts = m.ts AND q.active = 1)',
	file: `(m.extra IS NOT NULL AND m.extra LIKE '%"files":[%')`,
};

/** Conditions on message `m`, with $1 to $8 of `paramsOf`. */
export const conditionsOf = ({ has }: SearchRequest): string =>
	[
		'm.deleted = 0 AND m.ts > $3 AND m.ts < $4',
		`EXISTS (SELECT 1 FROM conversations c WHERE c.id = m.conversation AND c.team = $1
			AND ((c.kind = 'public' AND $5 = 0) OR EXISTS (SELECT 1 FROM members b
				WHERE b.user_id = $2 AND b.conversation = c.id AND b.member = 1)))`,
		`($6 = '[]' OR m.user_id IN (SELECT item FROM EACH_TEXT($6) AS authors))`,
		`($7 = '[]' OR m.conversation IN (SELECT item FROM EACH_TEXT($7) AS places))`,
		...has.map((one) => HAS[one]),
	].join(' AND ');

export const HITS = `COALESCE((SELECT sum((length(lower(m.text)) - length(replace(lower(m.text), w.item, ''))) / length(w.item))
	FROM EACH_TEXT($8) AS w), 0) AS hits`;

export function paramsOf(request: SearchRequest): Param[] {
	const words = request.terms.filter(({ isExcluded }) => !isExcluded).map(({ text }) => text.toLowerCase());
	return [
		request.team,
		request.user,
		request.after,
		request.before,
		flag(request.memberOnly),
		list(request.from ?? []),
		list(request.in ?? []),
		list(words.slice(0, 4)),
	];
}

/** Limits of a search without words: it reads the newest messages of the most recently active conversations. */
const ROWS_PER_CONVERSATION = 1000;
const MAX_CONVERSATIONS = 50;

/** Conversations with the newest messages. */
const PLACES = `SELECT readable.id FROM (
		SELECT b.conversation AS id FROM members b WHERE b.user_id = $2 AND b.member = 1
		UNION SELECT c.id FROM conversations c WHERE c.team = $1 AND c.kind = 'public' AND $3 = 0) AS readable
	WHERE ($4 = '[]' OR readable.id IN (SELECT item FROM EACH_TEXT($4) AS places))
	ORDER BY COALESCE((SELECT max(m.ts) FROM messages m WHERE m.conversation = readable.id), 0) DESC LIMIT $5`;

/**
 * For a search by author, conversation or date alone, or with excluded words only. `contains`: whether message `m` contains one of the
 * words in $10, in the database's own SQL; `excluded`: these words as the database expects them, '' for none.
 */
export async function findWithoutWords(
	reader: SqlReader,
	request: SearchRequest,
	contains: string,
	excluded: string,
): Promise<SearchMatch[]> {
	const { team, user, memberOnly, in: places } = request;
	const wanted = [team, user, flag(memberOnly), list(places ?? []), MAX_CONVERSATIONS];
	const conversations = await reader.all<{ id: string }>(PLACES, wanted);
	const sql = `SELECT m.conversation, m.ts, ${HITS} FROM (SELECT n.* FROM messages n
			WHERE n.conversation = $9 AND n.ts > $3 AND n.ts < $4 ORDER BY n.ts DESC LIMIT ${ROWS_PER_CONVERSATION}) AS m
		WHERE ${conditionsOf(request)} ${excluded === '' ? '' : `AND NOT ${contains}`}`;
	const found: SearchMatch[] = [];
	for (const { id } of conversations) {
		found.push(
			...(await reader.all<SearchMatch>(sql, [
				...paramsOf(request),
				id,
				...(excluded === '' ? [] : [excluded]),
			])),
		);
		await reader.pause();
	}
	return found.sort((a, b) => b.ts - a.ts).slice(0, MAX_MATCHES);
}
