import { afterEach, describe, expect, test } from 'bun:test';
import { Keys } from '../../src/engine/cluster/redis/keys.ts';
import { RedisTickets } from '../../src/engine/cluster/redis/tickets.ts';
import { admissionOf, random, userNamed } from '../gateway/support.ts';
import { connectBoth, LAYOUTS, redisPlace } from '../support/redis.ts';

const closing: (() => void)[] = [];
afterEach(() => {
	for (const close of closing.splice(0)) close();
});

const ADMISSION = admissionOf(userNamed('U1', { name: 'Zoë "}{"' }), {
	since: 1_717_200_000_123_456,
	counts: true,
});

for (const layout of LAYOUTS) {
	describe(`tickets on ${layout}`, () => {
		const open = async (place = redisPlace(layout), lifetimeMs?: number) => {
			const { commands, close } = await connectBoth(place);
			closing.push(close);
			const keys = new Keys(place.prefix);
			return { tickets: new RedisTickets(commands, keys, random, lifetimeMs), commands, keys, place };
		};

		test('a ticket of one gateway works at another gateway, once', async () => {
			const here = await open();
			const there = await open(here.place);
			const ticket = await here.tickets.issue(ADMISSION);
			expect(ticket).toMatch(/^[\w-]{32}$/);
			expect(await there.tickets.redeem(ticket)).toEqual(ADMISSION);
			expect(await there.tickets.redeem(ticket)).toBeNull();
			expect(await here.tickets.redeem(ticket)).toBeNull();
		});

		test('if two gateways use a ticket at once, one admits the client', async () => {
			const here = await open();
			const there = await open(here.place);
			for (let round = 0; round < 20; round += 1) {
				const ticket = await here.tickets.issue(ADMISSION);
				const admitted = await Promise.all([here.tickets.redeem(ticket), there.tickets.redeem(ticket)]);
				expect(admitted.filter((one) => one !== null)).toEqual([ADMISSION]);
			}
		});

		test('a ticket is valid for 30 seconds, and not longer', async () => {
			const { tickets, commands, keys, place } = await open();
			const kept = await commands.pttl(keys.ticket(await tickets.issue(ADMISSION)));
			expect(kept).toBeWithin(1, 30_001);
			const brief = (await open(place, 20)).tickets;
			const ticket = await brief.issue(ADMISSION);
			await Bun.sleep(60);
			expect(await brief.redeem(ticket)).toBeNull();
		});

		test('a ticket keeps the expiry of its token; nonsense admits nobody', async () => {
			const { tickets } = await open();
			const ending = { ...ADMISSION, expiresAt: 1_800_000_000_000 };
			expect(await tickets.redeem(await tickets.issue(ending))).toEqual(ending);
			for (const ticket of ['', '{}', '*', 'x'.repeat(32), 'x'.repeat(10_000)])
				expect(await tickets.redeem(ticket)).toBeNull();
		});
	});
}
