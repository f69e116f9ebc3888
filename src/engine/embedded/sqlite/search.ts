import type { SearchTerm } from '../../../model/search-query.ts';
import { MOST_MATCHES, type Search, type SearchMatch } from '../../ports/search.ts';
import type { GroupCommit } from '../../store/group-commit.ts';
import { writeFact } from '../../store/ledger.ts';
import type { FactWriter } from '../../store/push-facts.ts';
import { conditionsOf, findWithoutWords, HITS, paramsOf } from '../../store/search.ts';
import { list, type SqlReader } from '../../store/sql.ts';
import { erasing, statement } from '../../store/write-sql.ts';

/**
 * Words of messages in FTS5. Posts do not touch the index: a few hundred messages at a time are added after them, in transactions that
 * take turns with others. Edits and deletes of messages that are in it change it in their own transaction, so that a deleted text is gone
 * from the index as soon as from its row.
 */

const ROWS_A_STEP = 200;
const LOOK_EVERY_MS = 250;

const UP_TO = '(SELECT up_to FROM search_progress)';
const REMOVE = erasing(
	statement(
		null,
		`INSERT INTO message_words (message_words, rowid, text) SELECT 'delete', m.rowid, m.text FROM messages m
		WHERE m.conversation = $1 AND m.ts = $2 AND m.deleted = 0 AND m.rowid <= ${UP_TO}`,
	),
);
const ADD = statement(
	null,
	`INSERT INTO message_words (rowid, text) SELECT m.rowid, m.text FROM messages m
	WHERE m.conversation = $1 AND m.ts = $2 AND m.deleted = 0 AND m.rowid <= ${UP_TO}`,
);
const ADD_NEXT = statement(
	null,
	`INSERT INTO message_words (rowid, text) SELECT m.rowid, m.text FROM messages m
	WHERE m.rowid > ${UP_TO} AND m.rowid <= ${UP_TO} + $1 AND m.deleted = 0`,
);
const ADVANCE = statement(
	null,
	`UPDATE search_progress SET up_to = COALESCE((SELECT max(m.rowid) FROM messages m WHERE m.rowid <= up_to + $1), up_to)`,
);
const BEHIND = `SELECT COALESCE((SELECT max(m.rowid) FROM messages m), 0) - ${UP_TO} AS rows`;

export const indexingWords =
	(write: FactWriter = writeFact): FactWriter =>
	(fact, into) => {
		const isText = fact.type === 'edited' || fact.type === 'deleted';
		if (!isText) return write(fact, into);
		const { conversation, ts } = fact.message;
		into.add(REMOVE, [conversation, ts]);
		write(fact, into);
		into.add(ADD, [conversation, ts]);
	};

/** Adds what was posted since; returns what ends it. */
export function indexInBackground(reader: SqlReader, commits: GroupCommit): () => void {
	let isBusy = false;
	const step = async (): Promise<void> => {
		for (;;) {
			const [behind] = await reader.all<{ rows: number }>(BEHIND, []);
			if (!behind || behind.rows <= 0) return;
			const began = performance.now();
			const rows = [ROWS_A_STEP];
			await commits.executeAside([
				{ write: ADD_NEXT, params: rows },
				{ write: ADVANCE, params: rows },
			]);
			// A fifth of the writer's time at most: posts come first.
			await Bun.sleep((performance.now() - began) * 4);
		}
	};
	const timer = setInterval(() => {
		if (isBusy) return;
		isBusy = true;
		step()
			// A full disk, or the end: it is tried again.
			.catch(() => undefined)
			.finally(() => {
				isBusy = false;
			});
	}, LOOK_EVERY_MS);
	timer.unref?.();
	return () => clearInterval(timer);
}

const quoted = ({ text, isPrefix }: SearchTerm): string =>
	`"${text.replaceAll('"', '""')}"${isPrefix ? ' *' : ''}`;

function expressionOf(terms: readonly SearchTerm[]): string {
	const wanted = terms.filter(({ isExcluded }) => !isExcluded).map(quoted);
	const unwanted = terms.filter(({ isExcluded }) => isExcluded).map(quoted);
	const all = wanted.join(' AND ');
	return unwanted.length === 0 ? all : `(${all}) NOT (${unwanted.join(' OR ')})`;
}

const CANDIDATES = `SELECT rowid AS number FROM message_words
	WHERE message_words MATCH $1 AND rowid < $2 ORDER BY rowid DESC LIMIT $3`;
const CANDIDATES_A_STEP = 250;
const MOST_CANDIDATES = 10_000;

export function sqliteSearch(reader: SqlReader): Search {
	return {
		async find(request) {
			if (!request.terms.some(({ isExcluded }) => !isExcluded)) return findWithoutWords(reader, request);
			const expression = expressionOf(request.terms);
			const matching = `SELECT m.conversation, m.ts, ${HITS} FROM EACH_INTEGER($9) AS c CROSS JOIN messages m
				WHERE m.rowid = c.item AND ${conditionsOf(request)}`;
			const found: SearchMatch[] = [];
			let before = Number.MAX_SAFE_INTEGER;
			for (let looked = 0; looked < MOST_CANDIDATES && found.length < MOST_MATCHES; ) {
				const candidates = await reader.all<{ number: number }>(CANDIDATES, [
					expression,
					before,
					CANDIDATES_A_STEP,
				]);
				const numbers = candidates.map(({ number }) => number);
				found.push(...(await reader.all<SearchMatch>(matching, [...paramsOf(request), list(numbers)])));
				if (numbers.length < CANDIDATES_A_STEP) break;
				looked += numbers.length;
				before = numbers.at(-1) as number;
				await reader.pause();
			}
			return found.sort((a, b) => b.ts - a.ts).slice(0, MOST_MATCHES);
		},
	};
}
