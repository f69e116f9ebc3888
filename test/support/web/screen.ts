import { expect } from 'bun:test';
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import type { Conversation, ThreadTotals, TidemarkClient } from '../../../client/src/index.ts';
import { shortCount } from '../../../web/src/ui/format.ts';
import { freshCounts, shownCounts } from '../client/shown.ts';
import { eventually } from '../eventually.ts';
import type { Person } from '../people.ts';

/** One device of a person: a browser of its own with the interface open, and the actions of its user. */

export interface Shown {
	readonly conversations: readonly Conversation[];
	readonly threads: ThreadTotals;
	readonly badge: number;
}

/** Chromium logs this of every page that is reloaded, or left, while its socket is still connecting. */
const LEFT_WHILE_CONNECTING = 'WebSocket is closed before the connection is established';

export class Screen {
	/** Errors of the page. A test that provokes one removes it. */
	readonly errors: string[] = [];
	/** Every requested address. */
	readonly addresses: string[] = [];

	constructor(
		readonly page: Page,
		readonly person: Person,
	) {
		page.setDefaultTimeout(60_000);
		page.on('console', (message) => {
			const isError = message.type() === 'error' || message.type() === 'warning';
			if (isError && !message.text().includes(LEFT_WHILE_CONNECTING)) this.errors.push(message.text());
		});
		page.on('pageerror', (error) => this.errors.push(error.message));
		page.on('request', (request) => this.addresses.push(request.url()));
	}

	row(name: string): Locator {
		const named = this.page.locator('.side-name').getByText(name, { exact: true });
		return this.page.locator('.side-row').filter({ has: named });
	}

	/** The badge of a conversation in the sidebar; an empty text if there is none. */
	async badgeOf(name: string): Promise<string> {
		return (await this.row(name).locator('.badge > [aria-hidden]').allInnerTexts())[0] ?? '';
	}

	async open(name: string): Promise<void> {
		await this.row(name).click();
		await this.page.getByRole('main', { name }).locator('article, .state').first().waitFor();
	}

	message(text: string): Locator {
		return this.page.locator('.pane article', { hasText: text });
	}

	async write(text: string): Promise<void> {
		const box = this.page.locator('.pane .composer textarea');
		await box.fill(text);
		await box.press('Enter');
	}

	/** Chooses from the menu of a message. */
	async choose(message: Locator, action: string): Promise<void> {
		await message.hover();
		await message.getByRole('button', { name: 'More actions' }).click();
		await this.page.getByRole('menuitem', { name: action }).click();
	}

	shown(): Promise<Shown> {
		return this.page.evaluate<Shown>(`tidemark.settled().then(() => {
			const { conversations, threads, badge } = tidemark.getSnapshot();
			return { conversations: [...conversations.values()], threads, badge };
		})`);
	}

	/** The page's counts and the server's, from a moment in which the page marked nothing read. */
	private async still(): Promise<{ shown: Shown; fresh: Awaited<ReturnType<typeof freshCounts>> }> {
		for (;;) {
			const before = await this.shown();
			const fresh = await freshCounts(this.person);
			const shown = await this.shown();
			if (Bun.deepEquals(before, shown)) return { shown, fresh };
		}
	}

	/**
	 * The law: the counts on screen equal the SDK's, and those equal the server's answer to a fresh request. A page marks
	 * messages read after half a second on screen, perhaps between two of these queries: then everything is compared again.
	 */
	expectExact(): Promise<void> {
		return eventually(() => this.expectExactNow());
	}

	private async expectExactNow(): Promise<void> {
		const { shown, fresh } = await this.still();
		const { conversations, threads, badge } = shown;
		const snapshot = { conversations: new Map(conversations.map((one) => [one.id, one])), threads, badge };
		const client = { getSnapshot: () => snapshot } as unknown as TidemarkClient;
		expect(shownCounts(client)).toEqual(fresh);
		// The page renders a moment after the SDK's state has changed.
		await this.page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done)))');
		const drawn = await this.page.evaluate<[string, string][]>(
			`[...document.querySelectorAll('[data-conversation]')].map((row) =>
				[row.dataset.conversation, row.querySelector('.badge > [aria-hidden]')?.textContent ?? ''])`,
		);
		const wanted = new Map(
			conversations.map(({ id, badgeCount }) => [id, badgeCount > 0 ? shortCount(badgeCount) : '']),
		);
		for (const [id, text] of drawn) expect([id, text]).toEqual([id, wanted.get(id) ?? '']);
		const title = await this.page.title();
		expect(/^\((\S+)\)/.exec(title)?.[1] ?? '').toBe(badge > 0 ? shortCount(badge) : '');
	}
}

export async function openScreen(
	browser: Browser,
	url: string,
	person: Person,
	options: BrowserContextOptions = {},
): Promise<Screen> {
	const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
	const screen = new Screen(await context.newPage(), person);
	await screen.page.goto(`${url}/#token=${person.token}`);
	await screen.page.locator('.side-me').waitFor({ state: 'attached' });
	return screen;
}

/** Ends the outage that the page shows: by its button, unless the page has already reconnected. */
export async function tryNow(page: Page): Promise<void> {
	await Promise.any([
		page.getByRole('button', { name: 'Try now' }).click(),
		page.getByText('connecting…').waitFor({ state: 'hidden' }),
	]);
}
