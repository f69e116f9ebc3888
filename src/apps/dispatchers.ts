import type { App, Apps } from '../engine/ports/apps.ts';
import { settingsOf } from '../model/app-manifest.ts';
import { isStoredEvent } from './app-events.ts';
import { Dispatcher, type DispatcherParts } from './dispatcher.ts';
import type { PastAttempts } from './feed.ts';
import type { Transport } from './transport.ts';

/**
 * Runs a dispatcher for each app that this process can reach (over sockets here, or at a request URL) and whose
 * lease it holds. A lease lasts a few seconds and is renewed; when its holder dies, another process takes it.
 */

export interface DispatchersParts extends Omit<DispatcherParts, 'transport' | 'apps'> {
	readonly apps: DispatcherParts['apps'] & LeaseStore;
	/** Id of this process among those that share the store. */
	readonly holder: string;
	readonly sockets: (app: string) => Transport;
	readonly http: Transport;
	/** Called when this process has released the lease of an app. */
	readonly released: (app: string) => void;
}

type LeaseStore = Pick<Apps, 'all' | 'lease' | 'release'>;

const CHECK_EVERY_MS = 1_000;
const LEASE_MS = 6_000;
const PAGE = 500;

export class Dispatchers {
	private readonly running = new Map<string, Dispatcher>();
	/**
	 * By app: attempts at events that the last dispatcher did not deliver. An event that crashes the app closes the app's last socket,
	 * which ends the dispatcher. The next dispatcher continues to count the attempts at this event.
	 */
	private readonly past = new Map<string, PastAttempts>();
	private timer: ReturnType<typeof setTimeout> | undefined;
	private checking: Promise<void> = Promise.resolve();
	private isChecking = false;
	private isDue = false;
	private isStarted = false;
	private stopped = false;

	constructor(private readonly parts: DispatchersParts) {}

	start(): void {
		this.isStarted = true;
		this.check();
	}

	/** Called when the manifest or the sockets of an app changed. Before the start, it has no effect. */
	appChanged(app: string): void {
		this.running.get(app)?.wake();
		this.check();
	}

	/** Whether this process delivers to the app. */
	has(app: string): boolean {
		return this.running.has(app);
	}

	async stop(): Promise<void> {
		this.stopped = true;
		clearTimeout(this.timer);
		await this.checking;
		await Promise.all([...this.running.keys()].map((app) => this.end(app)));
	}

	private check(): void {
		if (!this.isStarted || this.stopped) return;
		if (this.isChecking) {
			this.isDue = true;
			return;
		}
		clearTimeout(this.timer);
		this.isChecking = true;
		this.checking = this.round()
			.catch(this.parts.report)
			.finally(() => {
				this.isChecking = false;
				if (this.stopped) return;
				const again = this.isDue;
				this.isDue = false;
				this.timer = setTimeout(() => this.check(), again ? 0 : CHECK_EVERY_MS);
			});
	}

	private async round(): Promise<void> {
		const wanted = new Set<string>();
		for (let after: string | null = null; ; ) {
			const page = await this.parts.apps.all(after, PAGE);
			for (const app of page.items) {
				const transport = this.transportOf(app);
				if (transport && !this.stopped && (await this.holds(app.id))) {
					wanted.add(app.id);
					await this.begin(app, transport);
				}
			}
			after = page.next;
			if (after === null) break;
		}
		for (const app of this.running.keys()) if (!wanted.has(app)) await this.end(app);
	}

	/** Null: the app subscribes to no stored events, has neither a socket here nor a request URL, or its deliveries over HTTP are paused. */
	private transportOf(app: App): Transport | null {
		const settings = settingsOf(JSON.parse(app.manifest));
		if (!settings.botEvents.some(isStoredEvent)) return null;
		if (!settings.socketMode)
			return settings.requestUrl !== '' && app.pausedAt === 0 ? this.parts.http : null;
		const transport = this.parts.sockets(app.id);
		return transport.isOpen() ? transport : null;
	}

	private holds(app: string): Promise<boolean> {
		const { holder, apps, nowMs } = this.parts;
		return apps.lease(app, holder, nowMs(), nowMs() + LEASE_MS);
	}

	private async begin(app: App, transport: Transport): Promise<void> {
		const known = this.running.get(app.id);
		if (known?.app.updatedTs === app.updatedTs) return;
		const past = known ? await known.stop() : this.past.get(app.id);
		this.past.delete(app.id);
		const dispatcher = new Dispatcher(app, { ...this.parts, transport }, past ?? new Map());
		this.running.set(app.id, dispatcher);
		dispatcher.start();
	}

	private async end(app: string): Promise<void> {
		const { holder, apps, released, report } = this.parts;
		const dispatcher = this.running.get(app);
		this.running.delete(app);
		const past = await dispatcher?.stop();
		if (past && past.size > 0) this.past.set(app, past);
		await apps.release(app, holder).catch(report);
		released(app);
	}
}
