import type { SearchTerm } from '../../../model/search-query.ts';
import { MAX_MATCHES, type Search, type SearchMatch } from '../../ports/search.ts';
import type { GroupCommit } from '../../store/group-commit.ts';
import { writeFact } from '../../store/ledger.ts';
import type { FactWriter } from '../../store/push-facts.ts';
import { conditionsOf, findWithoutWords, HITS, paramsOf } from '../../store/search.ts';
import { list, type SqlReader } from '../../store/sql.ts';
import { erasing, statement } from '../../store/write-sql.ts';

/**
 * Full-text search with FTS5. Posts do not touch the index: a background job adds a few hundred messages at a time, in transactions
 * that alternate with others. Edits and deletes of indexed messages update it in their own transaction, so that deleted text leaves
 * the index together with its row.
 */

const ROWS_PER_STEP = 200;
const CHECK_EVERY_MS = 250;

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

/** Indexes new messages in the background; returns a function that stops it. */
export function indexInBackground(reader: SqlReader, commits: GroupCommit): () => void {
	let isBusy = false;
	const step = async (): Promise<void> => {
		for (;;) {
			const [behind] = await reader.all<{ rows: number }>(BEHIND, []);
			if (!behind || behind.rows <= 0) return;
			const began = performance.now();
			const rows = [ROWS_PER_STEP];
			await commits.executeInBackground([
				{ write: ADD_NEXT, params: rows },
				{ write: ADVANCE, params: rows },
			]);
			// Uses at most a fifth of the writer's time: posts come first.
			await Bun.sleep((performance.now() - began) * 4);
		}
	};
	const timer = setInterval(() => {
		if (isBusy) return;
		isBusy = true;
		step()
			// A full disk, or the store is closing: try again.
			.catch(() => undefined)
			.finally(() => {
				isBusy = false;
			});
	}, CHECK_EVERY_MS);
	timer.unref?.();
	return () => clearInterval(timer);
}

const quoted = ({ text, isPrefix }: SearchTerm): string =>
	`"${text.replaceAll('"', '""')}"${isPrefix ? ' *' : ''}`;

const excludedIn = (terms: readonly SearchTerm[]): string =>
	terms
		.filter(({ isExcluded }) => isExcluded)
		.map(quoted)
		.join(' OR ');

function expressionOf(terms: readonly SearchTerm[]): string {
	const wanted = terms.filter(({ isExcluded }) => !isExcluded).map(quoted);
	const all = wanted.join(' AND ');
	const excluded = excludedIn(terms);
	return excluded === '' ? all : `(${all}) NOT (${excluded})`;
}

const CONTAINS = `EXISTS (SELECT 1 FROM message_words WHERE message_words MATCH $10
	AND rowid = (SELECT r.rowid FROM messages r WHERE r.conversation = m.conversation AND r.ts = m.ts))`;

const CANDIDATES = `SELECT rowid AS number FROM message_words
	WHERE message_words MATCH $1 AND rowid < $2 ORDER BY rowid DESC LIMIT $3`;
const CANDIDATES_PER_STEP = 250;
const MAX_CANDIDATES = 10_000;

export function sqliteSearch(reader: SqlReader): Search {
	return {
		async find(request) {
			if (request.terms.every(({ isExcluded }) => isExcluded))
				return findWithoutWords(reader, request, CONTAINS, excludedIn(request.terms));
			const expression = expressionOf(request.terms);
			const matching = `SELECT m.conversation, m.ts, ${HITS} FROM EACH_INTEGER($9) AS c CROSS JOIN messages m
				WHERE m.rowid = c.item AND ${conditionsOf(request)}`;
			const found: SearchMatch[] = [];
			let before = Number.MAX_SAFE_INTEGER;
			for (let looked = 0; looked < MAX_CANDIDATES && found.length < MAX_MATCHES; ) {
				const candidates = await reader.all<{ number: number }>(CANDIDATES, [
					expression,
					before,
					CANDIDATES_PER_STEP,
				]);
				const numbers = candidates.map(({ number }) => number);
				found.push(...(await reader.all<SearchMatch>(matching, [...paramsOf(request), list(numbers)])));
				if (numbers.length < CANDIDATES_PER_STEP) break;
				looked += numbers.length;
				before = numbers.at(-1) as number;
				await reader.pause();
			}
			return found.sort((a, b) => b.ts - a.ts).slice(0, MAX_MATCHES);
		},
	};
}
