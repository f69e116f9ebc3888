import { expect } from 'bun:test';
import type { CDPSession, Page, Worker } from 'playwright-core';
import { eventually } from '../eventually.ts';

/** The service worker of a page: the browser itself delivers pushes to it, and lists the notifications that it shows. */

export interface ShownNotification {
	readonly title: string;
	readonly body: string;
	readonly tag: string;
}

export class NotificationDesk {
	private constructor(
		private readonly page: Page,
		private readonly session: CDPSession,
		private readonly worker: Worker,
		private readonly registrationId: string,
	) {}

	/** Waits until the page has registered its worker. */
	static async of(page: Page): Promise<NotificationDesk> {
		await page.evaluate('navigator.serviceWorker.ready.then(() => undefined)');
		const session = await page.context().newCDPSession(page);
		const registered = new Promise<string>((resolve) => {
			session.on('ServiceWorker.workerRegistrationUpdated', ({ registrations: [first] }) => {
				if (first) resolve(first.registrationId);
			});
		});
		await session.send('ServiceWorker.enable');
		const context = page.context();
		const worker = context.serviceWorkers()[0] ?? (await context.waitForEvent('serviceworker'));
		// A browser without a desktop has no badge: the values are recorded instead.
		await worker.evaluate(`self.badges = [];
			self.handled = 0;
			const { waitUntil } = ExtendableEvent.prototype;
			ExtendableEvent.prototype.waitUntil = function (work) {
				waitUntil.call(this, work);
				work.finally(() => { handled += 1; });
			};
			Object.defineProperty(navigator, 'setAppBadge', { value: async (badge) => void badges.push(badge) })`);
		return new NotificationDesk(page, session, worker, await registered);
	}

	/**
	 * Delivers all at once, and waits until the worker has handled them: if a test listed notifications earlier, Chromium
	 * would lose them.
	 */
	async deliver(...pushed: readonly string[]): Promise<void> {
		const handled = () => this.worker.evaluate<number>('handled');
		const before = await handled();
		const origin = `${new URL(this.page.url()).origin}/`;
		const { registrationId } = this;
		for (const data of pushed)
			await this.session.send('ServiceWorker.deliverPushMessage', { origin, registrationId, data });
		await eventually(async () => expect(await handled()).toBe(before + pushed.length));
	}

	shown(): Promise<readonly ShownNotification[]> {
		return this.page.evaluate<ShownNotification[]>(`navigator.serviceWorker.ready
			.then((registration) => registration.getNotifications())
			.then((shown) => shown.map(({ title, body, tag }) => ({ title, body, tag })))`);
	}

	badges(): Promise<readonly number[]> {
		return this.worker.evaluate<number[]>('badges');
	}

	/** Simulates a click on a notification: without a desktop nobody can click. */
	async click(tag: string): Promise<void> {
		await this.worker.evaluate(`registration.getNotifications({ tag: ${JSON.stringify(tag)} })
			.then(([notification]) => {
				self.dispatchEvent(new NotificationEvent('notificationclick', { notification }));
			})`);
	}
}
