import { describe, expect, test } from 'bun:test';
import { ERRORS_PAGE, renderErrors } from '../../scripts/docs-errors.ts';
import { METHODS } from '../../src/gateway/http/methods/index.ts';
import { ERRORS } from '../../src/model/errors.ts';

/** Documentation and code agree: neither has a method, an argument or an error that the other lacks. */

const read = (page: string): Promise<string> => Bun.file(new URL(`../../${page}`, import.meta.url)).text();

test('docs/errors.md matches the table of errors', async () => {
	expect(await read(ERRORS_PAGE)).toBe(renderErrors());
});

interface Row {
	readonly name: string;
	readonly arguments: string;
	readonly errors: string;
}

const rows: Row[] = [
	...(await read('docs/methods.md')).matchAll(/^\| `([\w.]+)` \|(.*)\|(.*)\|(.*)\|$/gm),
].map(([, name = '', args = '', , errors = '']) => ({ name, arguments: args, errors }));

const names = (text: string, pattern: RegExp): string[] =>
	[...text.matchAll(pattern)].map(([, name = '']) => name);

/** Parentheses contain values, not names. */
const argumentsOf = (row: Row): string => row.arguments.replace(/\([^)]*\)/g, '');

test('docs/methods.md has every method once', () => {
	expect(rows.map((row) => row.name).sort()).toEqual(Object.keys(METHODS).sort());
});

describe.each(rows)('$name', (row) => {
	const method = METHODS[row.name];

	test('documents its arguments', () => {
		const schema = method?.schema ?? {};
		const described = Object.keys(schema).map((name) => (schema[name]?.required ? `${name}*` : name));
		expect(names(argumentsOf(row), /`(\w+\*?)`/g).sort()).toEqual(described.sort());
	});

	test('documents the arguments that it ignores', () => {
		expect(names(argumentsOf(row), /(?<!\w)\*(\w+)\*(?!\w)/g).sort()).toEqual(
			[...(method?.ignored ?? [])].sort(),
		);
	});

	test('has only errors of the table', () => {
		for (const code of names(row.errors, /`(\w+)`/g)) expect(Object.keys(ERRORS)).toContain(code);
	});
});
