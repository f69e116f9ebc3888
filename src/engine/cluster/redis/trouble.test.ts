import { expect, test } from 'bun:test';
import { Refusal } from '../../../model/errors.ts';
import { refusing } from './trouble.ts';

const failing = (error: unknown) => refusing({ ask: () => Promise.reject(error), tell: () => 1, size: 2 });
const named = (name: string, message: string): Error => Object.assign(new Error(message), { name });
const told = (error: unknown): Promise<unknown> =>
	failing(error)
		.ask()
		.catch((refusal) => refusal);

test('that Redis cannot be asked is a refusal that passes', async () => {
	const away = [
		new Error('Connection is closed.'),
		new Error('Command timed out'),
		named('MaxRetriesPerRequestError', 'x'),
		named('ReplyError', 'LOADING Redis is loading the dataset in memory'),
		named('SimpleError', 'ERR Script attempted to access a slot not served script: 1'),
		named('SimpleError', 'NOSCRIPT No matching script. Please use EVAL.'),
		Object.assign(new Error('x'), { code: 'ECONNRESET' }),
	];
	for (const error of away) expect(await told(error)).toMatchObject({ code: 'service_unavailable' });
});

test('whatever else goes wrong stays what it is', async () => {
	const others = [
		new Refusal('not_in_channel'),
		new TypeError('x is undefined'),
		named('ReplyError', 'WRONGTYPE of a key'),
	];
	for (const error of others) expect(await told(error)).toBe(error);
	expect([failing(0).tell(), failing(0).size]).toEqual([1, 2]);
});
