import { afterAll, afterEach, beforeAll, expect } from 'bun:test';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { type Call, client } from '../api.ts';
import { atEnd } from '../at-end.ts';
import { makeWorkspace, type Person } from '../people.ts';
import { ADMIN_TOKEN, startServer, type TestServer } from '../server.ts';
import { launchChromium } from './chromium.ts';
import { openScreen, type Screen } from './screen.ts';

/**
 * A server and a browser, shared by all files of a process: starting Chromium and bundling the interface costs more than
 * most tests. Each scene has its own workspace. A page error fails the test.
 */

export interface Stage {
	readonly server: TestServer;
	readonly browser: Browser;
	readonly admin: Call;
	/** Users with a channel `harbour` that all of them are in. */
	scene(people: number): Promise<Scene>;
	show(person: Person, options?: BrowserContextOptions): Promise<Screen>;
}

export interface Scene {
	readonly people: readonly [Person, Person, Person];
	readonly channel: string;
	post(author: Person, text: string, args?: Record<string, unknown>): Promise<string>;
}

let starting: Promise<TestServer> | undefined;
let launching: Promise<Browser> | undefined;

function sharedServer(): Promise<TestServer> {
	if (!starting) {
		const server = startServer();
		starting = server;
		atEnd(async () => (await server).stop());
	}
	return starting;
}

/** A browser that crashed has failed its test; the other tests get a new one. */
async function sharedBrowser(): Promise<Browser> {
	const known = await launching;
	if (known?.isConnected()) return known;
	launching = launchChromium();
	const browser = await launching;
	atEnd(() => browser.close());
	return browser;
}

/** With flags, even an empty set (`{}`), the file gets a server of its own, without any data. */
export function stage(flags?: Parameters<typeof startServer>[0]): Stage {
	let server: TestServer | undefined;
	let browser: Browser | undefined;
	const screens: Screen[] = [];
	const there = <T>(thing: T | undefined): T => {
		if (thing === undefined) throw new Error('the stage was used before beforeAll');
		return thing;
	};
	beforeAll(async () => {
		const starting = flags ? startServer(flags) : sharedServer();
		[server, browser] = await Promise.all([starting, sharedBrowser()]);
	}, 300_000);
	afterAll(async () => {
		if (flags) await server?.stop();
	});
	afterEach(async () => {
		const errors = screens.flatMap((screen) => screen.errors);
		for (const { page } of screens.splice(0)) await page.context().close();
		expect(errors).toEqual([]);
	});
	return {
		get server() {
			return there(server);
		},
		get admin() {
			return client(there(server).url, ADMIN_TOKEN);
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
			browser = await sharedBrowser();
			const screen = await openScreen(browser, there(server).url, person, options);
			screens.push(screen);
			return screen;
		},
	};
}
