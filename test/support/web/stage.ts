import { afterAll, afterEach, beforeAll, expect } from 'bun:test';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { makeWorkspace, type Person } from '../people.ts';
import { startServer, type TestServer } from '../server.ts';
import { launchChromium } from './chromium.ts';
import { openScreen, type Screen } from './screen.ts';

/** A server, a browser and a workspace for a file of tests. Every test ends without an error in any page. */

export interface Stage {
	readonly server: TestServer;
	readonly browser: Browser;
	/** People with a channel `harbour` that all of them are in. */
	scene(people: number): Promise<Scene>;
	show(person: Person, options?: BrowserContextOptions): Promise<Screen>;
}

export interface Scene {
	readonly people: readonly [Person, Person, Person];
	readonly channel: string;
	post(author: Person, text: string, args?: Record<string, unknown>): Promise<string>;
}

export function stage(options: Parameters<typeof startServer>[0] = {}): Stage {
	let server: TestServer | undefined;
	let browser: Browser | undefined;
	const screens: Screen[] = [];
	const there = <T>(thing: T | undefined): T => {
		if (thing === undefined) throw new Error('used before beforeAll');
		return thing;
	};
	beforeAll(async () => {
		[server, browser] = await Promise.all([startServer(options), launchChromium()]);
	}, 300_000);
	afterEach(async () => {
		const errors = screens.flatMap((screen) => screen.errors);
		for (const { page } of screens.splice(0)) await page.context().close();
		expect(errors).toEqual([]);
	});
	afterAll(async () => {
		await browser?.close();
		await server?.stop();
	});
	return {
		get server() {
			return there(server);
		},
		get browser() {
			return there(browser);
		},
		async scene(count) {
			const { people } = await makeWorkspace(there(server).url, count, `Harbour ${crypto.randomUUID()}`);
			const [owner, ...others] = people;
			if (!owner) throw new Error('a scene needs people');
			const { channel } = await owner.call('conversations.create', { name: 'harbour' });
			if (others.length > 0)
				await owner.call('conversations.invite', { channel: channel.id, users: others.map(({ id }) => id) });
			return {
				people: people as unknown as Scene['people'],
				channel: channel.id,
				post: async (author, text, args = {}) =>
					(await author.call('chat.postMessage', { channel: channel.id, text, ...args })).ts,
			};
		},
		async show(person, options) {
			// A browser that died has failed the test that it died in; the others get another one.
			if (!there(browser).isConnected()) browser = await launchChromium();
			const screen = await openScreen(there(browser), there(server).url, person, options);
			screens.push(screen);
			return screen;
		},
	};
}
