import type { App, Apps, AppTrouble } from '../engine/ports/apps.ts';
import type { Bus, BusMessage, Topic } from '../engine/ports/bus.ts';
import type { Directory } from '../engine/ports/store.ts';
import type { WorkspaceChanges } from '../engine/ports/workspace-changes.ts';
import { settingsOf } from '../model/app-manifest.ts';
import type { EventSubscriber } from './app-events.ts';
import type { EventReader } from './event-reader.ts';
import { type Delivery, Feed, type PastAttempts } from './feed.ts';
import { nextTryAt, type RetryRules } from './retries.ts';
import type { DeliveryOutcome, Transport } from './transport.ts';
import { wantsWorkspace } from './workspace-events.ts';
import { WorkspaceReader } from './workspace-reader.ts';

/**
 * Delivers the events of one app while this process holds the app's lease. A publication on the bus only
 * shows which conversation changed: events are read from the store, from the app's cursors on, so the
 * periodic check also finds changes whose publication was missed. Cursors are saved after acknowledgement:
 * unacknowledged events are delivered again, by this process or the next holder of the lease.
 */

export interface DispatcherParts {
	readonly apps: Pick<Apps, 'cursors' | 'advance' | 'setTrouble' | 'addGivenUp'>;
	readonly reader: EventReader;
	readonly workspaceChanges: WorkspaceChanges;
	readonly directory: Pick<Directory, 'conversationsOf'>;
	readonly bus: Bus;
	readonly transport: Transport;
	readonly rules: RetryRules;
	readonly nowMs: () => number;
	readonly report: (error: unknown) => void;
	readonly log: (line: string) => void;
}

/** Limit for unacknowledged events; reading continues as they are acknowledged. */
const MAX_UNACKNOWLEDGED = 500;
const CHECK_ALL_EVERY_MS = 20_000;
/** In a cluster, a change is published before it is persisted: read again after this time. */
const WORKSPACE_AGAIN_MS = 2_000;
const SAVE_EVERY_MS = 500;
const AFTER_FAILURE_MS = 1_000;
/** Older events are not delivered. */
const MAX_EVENT_AGE_MICROS = 24 * 3600 * 1e6;
const KINDS = ['public', 'private', 'im', 'mpim'] as const;
const LIVE = 'live:';
const MAX_DISCONNECTS = 5;
/** How long to wait for acknowledgements of deliveries in flight when stopping. */
const STOP_WAIT_MS = 1_000;
const PAGE = 1_000;

export class Dispatcher {
	private feed: Feed;
	private readonly subscriber: EventSubscriber;
	private readonly listened = new Set<string>();
	/** Conversations that may have new events. */
	private readonly dirty = new Set<string>();
	private readonly workspace: WorkspaceReader;
	private isWorkspaceDirty = false;
	private workspaceAgainAt = Number.POSITIVE_INFINITY;
	private inFlight = 0;
	private stopping = false;
	private lastTrouble: AppTrouble;
	private nextCheckAt = 0;
	private nextSaveAt = 0;
	private endPause: () => void = () => undefined;
	private running: Promise<void> = Promise.resolve();
	private readonly deliveries = new Set<Promise<void>>();

	constructor(
		readonly app: App,
		private readonly parts: DispatcherParts,
		private readonly past: PastAttempts,
	) {
		this.feed = new Feed(new Map(), past);
		const { botEvents } = settingsOf(JSON.parse(app.manifest));
		const names = new Map(botEvents.map((name) => [name, app.addedEvents[name] ?? app.eventsSinceTs]));
		this.subscriber = { app: app.id, bot: app.botUser, names };
		this.lastTrouble = app;
		this.workspace = new WorkspaceReader(parts.workspaceChanges, this.subscriber, parts.nowMs);
	}

	private get isPaused(): boolean {
		return this.parts.transport.pausesFailingApps && this.lastTrouble.pausedAt > 0;
	}

	start(): void {
		this.running = this.run();
	}

	/** Saves the cursors of acknowledged events. Resolves to the attempts of the others, for the app's next dispatcher. */
	async stop(): Promise<PastAttempts> {
		this.stopping = true;
		this.wake();
		await this.running;
		await this.pause(
			Promise.allSettled([...this.deliveries]).then(() => undefined),
			STOP_WAIT_MS,
		);
		for (const conversation of this.listened)
			this.parts.bus.unsubscribe(`live:${conversation}`, this.receiveLive);
		this.parts.bus.unsubscribe(`user:${this.app.botUser}`, this.receiveOwn);
		if (wantsWorkspace(this.subscriber))
			this.parts.bus.unsubscribe(`team:${this.app.team}`, this.receiveTeam);
		await this.save().catch(this.parts.report);
		return this.feed.pastAttempts();
	}

	/** Starts the next round of the loop now: a socket may have opened, or an event arrived. */
	wake(): void {
		this.endPause();
	}

	private async run(): Promise<void> {
		const { apps, bus, nowMs, report } = this.parts;
		bus.subscribe(`user:${this.app.botUser}`, this.receiveOwn);
		if (wantsWorkspace(this.subscriber)) bus.subscribe(`team:${this.app.team}`, this.receiveTeam);
		for (let isLoaded = false; !this.stopping; ) {
			const woken = new Promise<void>((resolve) => {
				this.endPause = resolve;
			});
			try {
				if (!isLoaded) this.feed = new Feed(await apps.cursors(this.app.id), this.past);
				isLoaded = true;
				await this.round();
			} catch (error) {
				if (this.stopping) return;
				report(error);
				await this.pause(woken, AFTER_FAILURE_MS);
				continue;
			}
			const until = Math.min(this.nextCheckAt, this.workspaceAgainAt, this.nextWorkAt());
			if (until > nowMs()) await this.pause(woken, until - nowMs());
			else await this.pause(Promise.resolve(), 0);
		}
	}

	private async pause(woken: Promise<void>, ms: number): Promise<void> {
		let timer: ReturnType<typeof setTimeout> | undefined;
		const passed = new Promise<void>((resolve) => {
			timer = setTimeout(resolve, Math.min(ms, CHECK_ALL_EVERY_MS));
		});
		await Promise.race([woken, passed]);
		clearTimeout(timer);
	}

	private nextWorkAt(): number {
		const { transport } = this.parts;
		if ((this.dirty.size > 0 || this.isWorkspaceDirty) && this.feed.size < MAX_UNACKNOWLEDGED) return 0;
		const hasRoom = transport.isOpen() && !this.isPaused && this.inFlight < transport.maxInFlight;
		const nextDue = hasRoom ? this.feed.nextDueAt() : Number.POSITIVE_INFINITY;
		return Math.min(nextDue, this.feed.unsaved().length > 0 ? this.nextSaveAt : Number.POSITIVE_INFINITY);
	}

	private async round(): Promise<void> {
		const { nowMs } = this.parts;
		if (nowMs() >= this.nextCheckAt) {
			this.nextCheckAt = nowMs() + CHECK_ALL_EVERY_MS;
			await this.checkAll();
			this.isWorkspaceDirty = true;
		}
		await this.read();
		if (nowMs() >= this.workspaceAgainAt) {
			this.workspaceAgainAt = Number.POSITIVE_INFINITY;
			this.isWorkspaceDirty = true;
		}
		await this.readWorkspace();
		this.deliverDue();
		if (nowMs() >= this.nextSaveAt) {
			this.nextSaveAt = nowMs() + SAVE_EVERY_MS;
			await this.save();
		}
	}

	/** Checks all conversations of the bot: finds changes whose publication was missed. */
	private async checkAll(): Promise<void> {
		const { directory, bus, reader } = this.parts;
		const query = {
			team: this.app.team,
			user: this.app.botUser,
			memberOnly: true,
			kinds: KINDS,
			excludeArchived: false,
		};
		const found: string[] = [];
		for (let after: string | null = null; ; ) {
			const page = await directory.conversationsOf(query, after, PAGE);
			for (const { id } of page.items) found.push(id);
			after = page.next;
			if (after === null) break;
		}
		for (const id of found) this.listen(id);
		await bus.ready();
		for (let from = 0; from < found.length; from += PAGE)
			for (const id of await reader.changedAmong(found.slice(from, from + PAGE), (id) =>
				this.feed.readUpTo(id),
			))
				this.dirty.add(id);
	}

	private listen(conversation: string): void {
		if (this.listened.has(conversation)) return;
		this.listened.add(conversation);
		this.parts.bus.subscribe(`live:${conversation}`, this.receiveLive);
	}

	private readonly receiveLive = (_message: BusMessage, topic: Topic): void => {
		this.dirty.add(topic.slice(LIVE.length));
		this.wake();
	};

	private readonly receiveOwn = (message: BusMessage): void => {
		if (message.type === 'joined') {
			this.listen(message.conversation);
			this.dirty.add(message.conversation);
			this.wake();
		} else if (message.type === 'lost') {
			this.nextCheckAt = 0;
			this.wake();
		}
	};

	private readonly receiveTeam = (): void => {
		this.isWorkspaceDirty = true;
		this.workspaceAgainAt = Math.min(this.workspaceAgainAt, this.parts.nowMs() + WORKSPACE_AGAIN_MS);
		this.wake();
	};

	private async read(): Promise<void> {
		const { reader } = this.parts;
		for (const conversation of [...this.dirty]) {
			if (this.feed.size >= MAX_UNACKNOWLEDGED || this.stopping) return;
			this.dirty.delete(conversation);
			try {
				const since = Math.max(this.feed.readUpTo(conversation), this.oldest());
				const found = await reader.read(this.subscriber, conversation, since);
				if (!found) continue;
				this.feed.add(conversation, found.events, found.upTo);
				if (found.hasMore) this.dirty.add(conversation);
			} catch (error) {
				this.dirty.add(conversation);
				throw error;
			}
		}
	}

	/** Events before this stamp are not delivered. */
	private oldest(): number {
		return Math.max(this.app.eventsSinceTs, this.parts.nowMs() * 1000 - MAX_EVENT_AGE_MICROS);
	}

	private async readWorkspace(): Promise<void> {
		const maxEvents = MAX_UNACKNOWLEDGED - this.feed.size;
		if (!this.isWorkspaceDirty || this.stopping || maxEvents <= 0) return;
		this.isWorkspaceDirty = false;
		try {
			const readUpTo = (stream: string): number => this.feed.readUpTo(stream);
			const query = { team: this.app.team, oldest: this.oldest(), maxEvents, readUpTo };
			const { events, hasMore } = await this.workspace.read(query);
			for (const event of events) this.feed.add(event.stream, [event], event.at);
			this.isWorkspaceDirty ||= hasMore;
		} catch (error) {
			this.isWorkspaceDirty = true;
			throw error;
		}
	}

	private deliverDue(): void {
		const { transport, nowMs } = this.parts;
		if (!transport.isOpen() || this.isPaused) return;
		for (const delivery of this.feed.due(nowMs(), transport.maxInFlight - this.inFlight)) {
			const done: Promise<void> = this.deliver(delivery).finally(() => this.deliveries.delete(done));
			this.deliveries.add(done);
		}
	}

	private async deliver(delivery: Delivery): Promise<void> {
		const { transport, nowMs, report } = this.parts;
		delivery.inFlight = true;
		delivery.firstAt ||= nowMs();
		this.inFlight += 1;
		try {
			const outcome = await transport.deliver(this.app, delivery);
			delivery.attempts += 1;
			this.finish(delivery, outcome);
		} catch (error) {
			report(error);
			delivery.dueAt = nowMs() + AFTER_FAILURE_MS;
		} finally {
			delivery.inFlight = false;
			this.inFlight -= 1;
			this.wake();
		}
	}

	private finish(delivery: Delivery, outcome: DeliveryOutcome): void {
		switch (outcome.type) {
			case 'acknowledged':
				this.feed.finish(delivery);
				this.note({ pausedAt: 0, failingSinceAt: 0, lastError: '' });
				return;
			case 'disconnected':
				delivery.reason = 'timeout';
				// An event that crashes the app must not crash it again at once, for ever.
				if (delivery.attempts > MAX_DISCONNECTS)
					this.retryLater(delivery, 'the connection closed before the acknowledgement');
				return;
			case 'rejected':
				this.giveUp(delivery, outcome.detail);
				return;
			case 'failed':
				delivery.reason = outcome.reason;
				this.retryLater(delivery, outcome.detail);
				this.failed(outcome.detail);
		}
	}

	private retryLater(delivery: Delivery, detail: string): void {
		const { rules, nowMs } = this.parts;
		const next = nextTryAt(rules, delivery.attempts, delivery.firstAt, nowMs());
		if (next === null) this.giveUp(delivery, detail);
		else delivery.dueAt = next;
	}

	private giveUp(delivery: Delivery, detail: string): void {
		const { apps, log, report } = this.parts;
		this.feed.finish(delivery);
		log(
			`app ${this.app.id}: event ${delivery.id} was dropped after ${delivery.attempts} attempts: ${detail}`,
		);
		apps.addGivenUp(this.app.id, 1).catch(report);
	}

	private failed(detail: string): void {
		const { transport, rules, nowMs, log } = this.parts;
		const failingSinceAt = this.lastTrouble.failingSinceAt || nowMs();
		const isPausing = transport.pausesFailingApps && nowMs() - failingSinceAt >= rules.pauseAppAfterMs;
		if (isPausing && !this.isPaused)
			log(
				`app ${this.app.id} is paused: every delivery failed since ${new Date(failingSinceAt).toISOString()}, most recently with: ${detail}. Fix the app, then run \`tidemark app resume --app ${this.app.id}\`.`,
			);
		this.note({ pausedAt: isPausing ? nowMs() : 0, failingSinceAt, lastError: detail });
	}

	/** Stored only when it changes: most deliveries succeed. */
	private note(trouble: AppTrouble): void {
		const { pausedAt, failingSinceAt, lastError } = this.lastTrouble;
		const isSame =
			trouble.pausedAt > 0 === pausedAt > 0 &&
			trouble.failingSinceAt === failingSinceAt &&
			trouble.lastError === lastError;
		if (isSame) return;
		this.lastTrouble = trouble;
		this.parts.apps.setTrouble(this.app.id, trouble).catch(this.parts.report);
	}

	private async save(): Promise<void> {
		const cursors = this.feed.unsaved();
		if (cursors.length === 0) return;
		await this.parts.apps.advance(this.app.id, cursors);
		this.feed.saved(cursors);
	}
}
