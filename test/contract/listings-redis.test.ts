import { afterEach, expect, test } from 'bun:test';
import { Keys } from '../../src/engine/cluster/redis/keys.ts';
import { Listings } from '../../src/engine/cluster/redis/read-state/listings.ts';
import { connectBoth, LAYOUTS, redisPlace } from '../support/redis.ts';

const closing: (() => void)[] = [];
afterEach(() => {
	for (const close of closing.splice(0)) close();
});

const open = async (layout: (typeof LAYOUTS)[number]) => {
	const place = redisPlace(layout);
	const { commands, close } = await connectBoth(place);
	closing.push(close);
	const keys = new Keys(place.prefix);
	return { listings: new Listings(commands, keys), commands, keys };
};

for (const layout of LAYOUTS)
	test(`a listing has any number of conversations, replaces an earlier one, and expires (${layout})`, async () => {
		const { listings, commands, keys } = await open(layout);
		expect(await listings.saved('U1', 7)).toBeNull();
		// A call in Bun with 700,000 arguments fails, and Redis serves nobody else during a command.
		let largest = 0;
		const sadd = commands.sadd.bind(commands);
		Object.assign(commands, {
			sadd: (...args: Parameters<typeof sadd>) => {
				largest = Math.max(largest, args.length);
				return sadd(...args);
			},
		});
		const many = new Set(Array.from({ length: 12_000 }, (_, index) => `C${index}`));
		await listings.save('U1', 7, many);
		expect(largest).toBeWithin(2, 6_000);
		expect((await listings.saved('U1', 7))?.symmetricDifference(many)).toEqual(new Set(['']));
		expect(await commands.ttl(keys.listing('U1', 7))).toBeWithin(1, 901);
		await listings.save('U1', 7, []);
		expect(await listings.saved('U1', 7)).toEqual(new Set(['']));
		expect(await listings.saved('U1', 8)).toBeNull();
	}, 60_000);
