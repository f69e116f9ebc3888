import { describe, expect, test } from 'bun:test';
import * as type from '../../src/gateway/http/argument-types.ts';
import {
	type Argument,
	checkNames,
	optional,
	parseArguments,
	type Schema,
} from '../../src/gateway/http/arguments.ts';
import type { ErrorCode } from '../../src/model/errors.ts';
import { detailOf, rejectionOf } from './support.ts';

const NONE: ReadonlySet<string> = new Set();

const parse = (schema: Schema, raw: Record<string, unknown>) =>
	parseArguments(schema, new Map(Object.entries(raw)));

/** Parses arguments as administrators' methods do. */
const check = (schema: Schema, raw: Record<string, unknown>, ignored = NONE) =>
	checkNames(schema, ignored, new Map(Object.entries(raw)));

const parseOne = (argument: Argument<unknown>, value: unknown) => parse({ value: argument }, { value }).value;

describe('names', () => {
	test('an unknown argument is ignored', () => {
		expect(parse({ channel: type.channel }, { channel: 'C123', nonce: '7', toString: 'x' })).toEqual({
			channel: 'C123',
		});
	});

	test('an administrator’s method rejects an unknown argument, and names it', async () => {
		const work = () => check({ channel: type.channel }, { channel: 'C123', colour: 'red' });
		expect(await rejectionOf(work)).toBe('invalid_arg_name');
		expect(await detailOf(work)).toStartWith('colour: ');
	});

	test('names of Object.prototype are not arguments', async () => {
		for (const name of ['constructor', '__proto__', 'toString'])
			expect(await rejectionOf(() => check({}, Object.fromEntries([[name, '1']])))).toBe('invalid_arg_name');
	});

	test('arguments that clients send with every call are accepted by every method', () => {
		const raw = { token: 'x', team_id: 'T1', pretty: '1', _x_id: 'abc', mrkdwn: 'true' };
		expect(() => check({}, raw, new Set(['mrkdwn']))).not.toThrow();
	});

	test('an error does not repeat an argument’s name unescaped', async () => {
		expect(await detailOf(() => check({}, { 'a\n<b>': '1' }))).toStartWith('a??b?: ');
	});
});

describe('presence', () => {
	test('a missing, null or empty required argument is rejected and named', async () => {
		for (const raw of [{}, { channel: null }, { channel: '' }]) {
			expect(await rejectionOf(() => parse({ channel: type.channel }, raw))).toBe('missing_argument');
			expect(await detailOf(() => parse({ channel: type.channel }, raw))).toStartWith('channel: ');
		}
	});

	test('Slack’s own error code is used where there is one', async () => {
		expect(await rejectionOf(() => parse({ users: type.users('no_user') }, {}))).toBe('no_user');
		const name = type.text({ missing: 'invalid_name_required', takesEmpty: false });
		expect(await rejectionOf(() => parse({ name }, { name: '' }))).toBe('invalid_name_required');
	});

	test('optional arguments may be absent, and have defaults', () => {
		const schema = { limit: type.limit(100), cursor: type.cursor('after'), user: optional(type.user) };
		expect(parse(schema, { cursor: '' })).toEqual({ limit: 100, cursor: undefined, user: undefined });
	});

	test('an empty text is a value', () => {
		expect(parseOne(type.text(), '')).toBe('');
	});
});

describe('values', () => {
	const bad: [string, Argument<unknown>, ErrorCode, unknown[]][] = [
		[
			'channel',
			type.channel,
			'channel_not_found',
			['general', 'c123', 'U123', 'C1', 5, ['C123'], `C${'1'.repeat(40)}`],
		],
		['user', type.user, 'user_not_found', ['ann', 'C123', {}]],
		[
			'ts',
			type.ts('invalid_timestamp'),
			'invalid_timestamp',
			['1', '1717200000.12345', 'now', 1717200000.123456],
		],
		['mark ts', type.markTs, 'invalid_timestamp', ['1', 'x', true]],
		['oldest', type.oldest, 'invalid_ts_oldest', ['-1', 'x', '1.2.3', `1717200000.${'1'.repeat(21)}`]],
		['latest', type.latest, 'invalid_ts_latest', ['x', false]],
		['limit', type.limit(100), 'invalid_limit', ['-1', '1.5', 'ten', -1, 1.5]],
		['cursor', type.cursor('next_ts'), 'invalid_cursor', ['x', 'bmV4dF90czo=', 7]],
		['types', type.types, 'invalid_types', ['public', 'public_channel,foo', 'constructor', '[1]', 3]],
		['flag', type.flag, 'invalid_arguments', ['yes', 'T', 2, []]],
		['count', type.count, 'invalid_arguments', ['-1', '1.5', '1e3', '9'.repeat(20)]],
		['position', type.position, 'invalid_position', ['1', 'x'.repeat(16), 1]],
		['level', type.notificationLevel, 'invalid_arguments', ['some', 1]],
		['users', type.users('no_user'), 'user_not_found', ['U123,ann', '["U123","C123"]']],
		['users list', type.users('no_user'), 'invalid_array_arg', [5, {}, '[1]', '[', [1]]],
		['empty users', type.users('no_user'), 'no_user', [',', [], '[]']],
		['text', type.text({ max: 3 }), 'invalid_arguments', ['four', {}, true]],
		['metadata', type.metadata, 'invalid_metadata_format', ['x', '[]', '{"event_type":1}', 5]],
	];
	test.each(bad)('bad %s', async (_name, argument, code, values) => {
		for (const value of values)
			expect([value, await rejectionOf(() => parseOne(argument, value))]).toEqual([value, code]);
	});

	const good: [string, Argument<unknown>, unknown, unknown][] = [
		['ts', type.ts('invalid_timestamp'), '1717200000.123456', 1717200000123456],
		['ts with more decimals', type.ts('invalid_timestamp'), '1717200000.1234560', 1717200000123456],
		['ts of a floating-point number', type.markTs, '1717200000.123455882', 1717200000123456],
		['ts up to the next second', type.markTs, '1717200000.9999999', 1717200001000000],
		['bound with more decimals', type.latest, '1717200000.1234567', 1717200000123457],
		['mark ts 0', type.markTs, '0', 0],
		['short bound', type.oldest, '1717200000', 1717200000000000],
		['bound as a number', type.oldest, 1717200000, 1717200000000000],
		['limit as text', type.limit(100), '7', 7],
		['limit beyond a page', type.limit(100), '9999', 1000],
		['limit 0', type.limit(20), 0, 20],
		['limit as a number', type.limit(100), 7, 7],
		['flag true', type.flag, 'true', true],
		['flag of Python', type.flag, 'True', true],
		['flag of Python, false', type.flag, 'False', false],
		['flag 1', type.flag, '1', true],
		['flag as JSON', type.flag, false, false],
		['flag 0', type.flag, 0, false],
		['comma list', type.users('no_user'), 'U123, U234,U123', ['U123', 'U234']],
		['JSON list in a form', type.users('no_user'), '["U123","U234"]', ['U123', 'U234']],
		['JSON list', type.users('no_user'), ['U123'], ['U123']],
		['types', type.types, 'im,mpim,private_channel,public_channel', ['im', 'mpim', 'private', 'public']],
		['number as text', type.text(), 5, '5'],
		['text that stores cannot keep', type.text(), 'a\0b\uD800c', 'a\uFFFDb\uFFFDc'],
		[
			'metadata',
			type.metadata,
			'{"event_type":"e","event_payload":{}}',
			{ event_type: 'e', event_payload: {} },
		],
		['metadata to remove', type.metadata, {}, {}],
	];
	test.each(good)('good %s', (_name, argument, value, expected) => {
		expect(parseOne(argument, value)).toEqual(expected);
	});

	test('an error names the argument with the bad value', async () => {
		expect(await detailOf(() => parse({ oldest: type.oldest }, { oldest: 'x' }))).toStartWith('oldest: ');
	});
});

describe('blocks and attachments', () => {
	const blocks = type.objects({ bad: 'invalid_blocks_format', max: 2, tooMany: 'too_many_attachments' });

	test('JSON, and JSON as text, are accepted', () => {
		expect(parseOne(blocks, [{ type: 'divider' }])).toEqual([{ type: 'divider' }]);
		expect(parseOne(blocks, '[{"type":"divider"}]')).toEqual([{ type: 'divider' }]);
	});

	test('anything but an array of objects is rejected', async () => {
		for (const value of ['[', '{}', '[1]', '[[]]', '[null]', 5, {}, 'x'])
			expect(await rejectionOf(() => parseOne(blocks, value))).toBe('invalid_blocks_format');
	});

	test('too many blocks are rejected', async () => {
		expect(await rejectionOf(() => parseOne(blocks, [{}, {}, {}]))).toBe('too_many_attachments');
	});

	test('deeply nested blocks are rejected before they are traversed', async () => {
		const deep = `[{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}]`;
		expect(await rejectionOf(() => parseOne(blocks, deep))).toBe('invalid_blocks_format');
	});
});
