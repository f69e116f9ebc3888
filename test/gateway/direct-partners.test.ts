import { expect, test } from 'bun:test';
import type { User } from '../../src/engine/ports/store.ts';
import { DirectPartners } from '../../src/gateway/direct-partners.ts';
import type { Conversation } from '../../src/model/conversation.ts';
import { Rejection } from '../../src/model/errors.ts';
import { HandClock, rejectionOf, userNamed } from './support.ts';

/** Posts to a deactivated user are rejected. No other post waits for the store, or fails with it. */

const DIRECT = { id: 'D1', people: ['U1', 'U2'] } as unknown as Conversation;

function stage(users: (ids: readonly string[]) => Promise<readonly User[]>) {
	const clock = new HandClock();
	let asked = 0;
	const persistedDirectory = {
		conversations: async () => {
			asked += 1;
			return [DIRECT];
		},
	};
	return {
		clock,
		partners: new DirectPartners(persistedDirectory, { users }, clock.now),
		asked: () => asked,
	};
}

const person = (deleted: boolean) => async () => [userNamed('U2', { deleted })];

test('an active partner is looked up now and then, and again after a deactivation', async () => {
	let isDeactivated = false;
	const { clock, partners, asked } = stage(() => person(isDeactivated)());
	for (let post = 0; post < 3; post += 1) await partners.check('U1', 'D1');
	await partners.check('U1', 'C1');
	expect(asked()).toBe(1);
	clock.pass(60_000);
	await partners.check('U1', 'D1');
	expect(asked()).toBe(2);
	isDeactivated = true;
	partners.forgetUser('U2');
	for (let post = 0; post < 2; post += 1)
		expect(await rejectionOf(() => partners.check('U1', 'D1'))).toBe('user_disabled');
	isDeactivated = false;
	await partners.check('U1', 'D1');
});

test('posts of one user say nothing about whether that user is active', async () => {
	const { partners } = stage(async ([id = '']) => [userNamed(id, { deleted: id === 'U1' })]);
	await partners.check('U1', 'D1');
	expect(await rejectionOf(() => partners.check('U2', 'D1'))).toBe('user_disabled');
});

test('users outside the direct message learn nothing', async () => {
	await stage(person(true)).partners.check('U3', 'D1');
});

test('a store that is down or does not answer delays nobody', async () => {
	const hanging = Promise.withResolvers<readonly User[]>();
	await stage(() => hanging.promise).partners.check('U1', 'D1');
	await stage(() => Promise.reject(new Rejection('service_unavailable'))).partners.check('U1', 'D1');
	hanging.resolve([]);
});
