import { expect, test } from 'bun:test';
import { dayOf, MAX_TERMS, parseSearch } from '../../src/model/search-query.ts';

/** Parses the text of a search. */

const DAY = 86_400_000_000;
const NOW = (dayOf('2024-06-15') as number) + 3_600_000_000;
const parse = (text: string) => parseSearch(text, NOW);
const terms = (text: string) =>
	parse(text).terms.map(
		({ text, isPrefix, isExcluded }) => `${isExcluded ? '-' : ''}${text}${isPrefix ? '*' : ''}`,
	);

test('words, phrases, excluded words and prefixes are parsed', () => {
	expect(terms('ship "at the quay" -fog -"thick fog" harb*')).toEqual([
		'ship',
		'at the quay',
		'-fog',
		'-thick fog',
		'harb*',
	]);
	expect(terms('"never closed')).toEqual(['never closed']);
	expect(terms('!!! - "" ...')).toEqual([]);
	expect(terms('http://example.org/x:y note:this')).toEqual(['http://example.org/x:y', 'note:this']);
	expect(terms('word '.repeat(100))).toHaveLength(MAX_TERMS);
});

test('modifiers are parsed', () => {
	expect(parse('from:@ada from:me in:#quay in:<#C1|x> has:link has:reactions tide')).toMatchObject({
		from: ['@ada', 'me'],
		in: ['#quay', '<#C1|x>'],
		has: ['link', 'reaction'],
		terms: [{ text: 'tide' }],
	});
	expect(terms('has:nonsense')).toEqual(['has:nonsense']);
});

test('dates are whole days in UTC', () => {
	const june = dayOf('2024-06-01') as number;
	expect(parse('before:2024-06-01')).toMatchObject({ after: 0, before: june });
	expect(parse('after:2024-06-01')).toMatchObject({ after: june + DAY - 1 });
	expect(parse('on:2024-06-01')).toMatchObject({ after: june - 1, before: june + DAY });
	expect(parse('on:yesterday')).toMatchObject({ before: dayOf('2024-06-15') as number });
	expect(terms('before:2024-13-99')).toEqual(['before:2024-13-99']);
	expect(dayOf('2024-02-31')).toBeUndefined();
});
