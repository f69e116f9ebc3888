import { expect, test } from 'bun:test';
import type { Redis } from 'ioredis';
import { Rejection } from '../../../model/errors.ts';
import { causeOf, EpochOver, RedisUnavailable, translated, translating } from './failure-cause.ts';

const named = (name: string, message: string): Error => Object.assign(new Error(message), { name });

test('an unavailable Redis becomes a rejection that can be retried', () => {
	const unavailable = [
		new Error('Connection is closed.'),
		new Error('Command timed out'),
		named('MaxRetriesPerRequestError', 'x'),
		named('ReplyError', 'LOADING Redis is loading the dataset in memory'),
		named('SimpleError', 'NOSCRIPT No matching script. Please use EVAL.'),
		Object.assign(new Error('x'), { code: 'ECONNRESET' }),
	];
	for (const error of unavailable) {
		const rejection = translated(error);
		expect(rejection).toMatchObject({ code: 'service_unavailable', isElsewhere: false });
		expect(causeOf(rejection as Error)).toBe(error);
	}
});

test('a moved slot becomes `isElsewhere`, so that callers do not read the error message', () => {
	for (const words of [
		'ERR Script attempted to access a slot not served script: 1',
		"CROSSSLOT Keys in request don't hash to the same slot",
		// As lua/views-1.lua says it.
		'TRYAGAIN the changes of C1 are not here yet',
	])
		expect(translated(named('ReplyError', words))).toMatchObject({ isElsewhere: true });
	expect(translated(named('ReplyError', 'OVER the epoch has ended'))).toBeInstanceOf(EpochOver);
});

test('other errors stay unchanged', () => {
	const others = [
		new Rejection('not_in_channel'),
		new TypeError('x is undefined'),
		named('ReplyError', 'WRONGTYPE of a key'),
	];
	for (const error of others) expect(translated(error)).toBe(error);
});

test('a wrapped client and its nodes differ only in their errors', async () => {
	const node = { get: () => Promise.reject(new Error('Connection is closed.')), status: 'ready' };
	const client = { ...node, nodes: () => [node], size: () => 1 };
	const commands = translating(client as unknown as Redis) as unknown as typeof client;
	const [asked] = commands.nodes();
	expect([commands.status, commands.size(), asked?.status]).toEqual(['ready', 1, 'ready']);
	expect(commands.nodes()[0]).toBe(asked as typeof node);
	for (const one of [commands, asked as typeof node])
		expect(await one.get().catch((error) => error)).toBeInstanceOf(RedisUnavailable);
});
