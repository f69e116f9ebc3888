import type { SQL } from 'bun';
import { Rejection } from '../../../model/errors.ts';
import type { SearchTerm } from '../../../model/search-query.ts';
import { MAX_MATCHES, type Search, type SearchMatch } from '../../ports/search.ts';
import { toPostgres } from '../../store/dialect.ts';
import { conditionsOf, findWithoutWords, HITS, paramsOf } from '../../store/search.ts';
import type { PostgresReader } from './reader.ts';
import { toParam, withNumbers } from './values.ts';

/**
 * Search with PostgreSQL's full-text index. The index needs bitmap scans, which are off for all other queries (connections.ts).
 * Words that occur everywhere take long: such a search is cancelled.
 */

const MAX_MS = 3000;
const CANCELLED = '57014';

const lexemes = ({ text, isPrefix }: SearchTerm): string =>
	`'${text.replaceAll('\\', ' ').replaceAll("'", "''")}'${isPrefix ? ':*' : ''}`;

const expressionOf = (terms: readonly SearchTerm[]): string =>
	terms.map((term) => `${term.isExcluded ? '!' : ''}${lexemes(term)}`).join(' & ');

const anyOf = (terms: readonly SearchTerm[]): string => terms.map(lexemes).join(' | ');

const CONTAINS = `to_tsvector('simple'::regconfig, m.text) @@ to_tsquery('simple'::regconfig, $10)`;

export function postgresSearch(reader: PostgresReader): Search {
	return {
		async find(request) {
			if (request.terms.every(({ isExcluded }) => isExcluded))
				return findWithoutWords(reader, request, CONTAINS, anyOf(request.terms));
			const sql = `SELECT m.conversation, m.ts, ${HITS} FROM messages m
				WHERE to_tsvector('simple'::regconfig, m.text) @@ to_tsquery('simple'::regconfig, $9)
					AND ${conditionsOf(request)} ORDER BY m.ts DESC LIMIT ${MAX_MATCHES}`;
			const params = [...paramsOf(request), expressionOf(request.terms)].map(toParam);
			return reader.read((connections) => withinTime(connections, toPostgres(sql), params).catch(explain));
		},
	};
}

function explain(error: { readonly errno?: string; readonly code?: string }): never {
	if (error.errno !== CANCELLED && error.code !== CANCELLED) throw error;
	throw new Rejection(
		'search_too_broad',
		'query: its words are too frequent; add other words, or in: or from:',
	);
}

const withinTime = (connections: SQL, sql: string, params: readonly unknown[]): Promise<SearchMatch[]> =>
	connections.begin('read only', async (transaction) => {
		await transaction.unsafe(`SET LOCAL statement_timeout = ${MAX_MS}`);
		await transaction.unsafe('SET LOCAL enable_bitmapscan = on');
		return withNumbers<SearchMatch>([...(await transaction.unsafe(sql, [...params]))] as SearchMatch[]);
	});
