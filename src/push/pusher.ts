import type { PresenceStore } from '../engine/ports/presence.ts';
import type { PushPlatform, PushStore } from '../engine/ports/push.ts';
import type { Directory, History } from '../engine/ports/store.ts';
import { nextTurn } from '../model/next-turn.ts';
import type { ReadState } from '../unread/read-state.ts';
import { FanOut } from './fan-out.ts';
import { Meters } from './meters.ts';
import type { PushProvider } from './provider.ts';
import { Providers, type ProviderWatch } from './providers.ts';
import { RecipientStates } from './recipient-states.ts';
import { Sender } from './sender.ts';
import { UserPace } from './user-pace.ts';
import { Withdrawals } from './withdrawals.ts';

/**
 * Runs push as three loops that poll the store for work: messages to fan out, notifications to send, notifications to withdraw. A
 * fourth loop removes old records. Any number of processes may run them on the same store; leases prevent duplicate work.
 */

export interface PusherParts {
	readonly push: PushStore;
	readonly history: History;
	readonly directory: Directory;
	readonly readState: ReadState;
	readonly presence: Pick<PresenceStore, 'activeAmong'>;
	readonly providers: Partial<Record<PushPlatform, PushProvider>>;
	readonly watch: ProviderWatch;
	readonly delayMs: number;
	/** Pause after a round without work; `POLL_EVERY_MS` by default. */
	readonly pollEveryMs?: number;
	readonly nowMs: () => number;
	readonly random: () => number;
	readonly newLease: () => string;
	readonly report: (error: unknown) => void;
}

const POLL_EVERY_MS = 200;
const AFTER_FAILURE_MS = 2_000;
/** Concurrent batches: a slow answer in one does not delay the others. */
const MAX_BATCHES = 4;
const TIDY_EVERY_MS = 60_000;
/** Longer than any send takes. The record of a handled mark is kept for this time, for notifications that were in flight. */
const MAX_SEND_MS = 10 * 60_000;
/** Notifications older than this are not withdrawn. */
const WITHDRAWABLE_MS = 7 * 24 * 60 * 60_000;

export class Pusher {
	readonly meters = new Meters();
	/** Updated by the tidy loop. */
	sizes = { devices: 0, pending: 0, dead: 0 };
	private readonly providers: Providers;
	private readonly fanOut: FanOut;
	private readonly sender: Sender;
	private readonly withdrawals: Withdrawals;
	private loops: Promise<unknown> = Promise.resolve();
	private stopping = false;
	private wake: () => void = () => undefined;
	private readonly stopped = new Promise<void>((resolve) => {
		this.wake = resolve;
	});

	constructor(private readonly parts: PusherParts) {
		const { push, history, directory, nowMs, random, newLease, report } = parts;
		const { outbox, devices } = push;
		const recipients = new RecipientStates(parts.readState);
		this.providers = new Providers(parts.providers, parts.watch, nowMs, random);
		const { providers, meters } = this;
		const pace = new UserPace(nowMs);
		const shared = {
			outbox,
			history,
			directory,
			recipients,
			providers,
			meters,
			nowMs,
			newLease,
			report,
			pace,
		};
		this.fanOut = new FanOut({ ...shared, presence: parts.presence, delayMs: parts.delayMs });
		this.sender = new Sender({ ...shared, random });
		this.withdrawals = new Withdrawals({ ...shared, devices });
	}

	async start(): Promise<void> {
		// Not awaited: an unavailable provider must not delay the start.
		void this.providers.check().catch(this.parts.report);
		this.loops = Promise.all([
			this.repeat(() => this.fanOut.round()),
			this.repeat(() => this.withdrawals.round()),
			this.sending(),
			this.tidying(),
		]);
	}

	/** Waits for running work; unfinished notifications become due again. */
	async stop(): Promise<void> {
		this.stopping = true;
		this.wake();
		this.providers.close();
		await this.loops;
		await this.withdrawals.idle();
	}

	private async sending(): Promise<void> {
		const batches = new Set<Promise<void>>();
		await this.repeat(async () => {
			if (batches.size >= MAX_BATCHES) await Promise.race(batches);
			const due = await this.sender.take();
			if (due.length === 0) return 0;
			const batch: Promise<void> = this.sender
				.send(due)
				.catch(this.parts.report)
				.then(() => void batches.delete(batch));
			batches.add(batch);
			return due.length;
		});
		await Promise.all(batches);
	}

	private async tidying(): Promise<void> {
		const { push, nowMs, report } = this.parts;
		while (!this.stopping) {
			try {
				await push.outbox.tidy((nowMs() - WITHDRAWABLE_MS) * 1000, nowMs() - MAX_SEND_MS);
				this.sizes = await push.outbox.sizes();
				this.providers.forget();
			} catch (error) {
				report(error);
			}
			await this.pause(TIDY_EVERY_MS);
		}
	}

	/** Runs rounds without pause while there is work, otherwise with pauses. */
	private async repeat(round: () => Promise<number>): Promise<void> {
		const { pollEveryMs = POLL_EVERY_MS } = this.parts;
		while (!this.stopping) {
			let wait = 0;
			try {
				if ((await round()) === 0) wait = pollEveryMs;
			} catch (error) {
				if (!this.stopping) this.parts.report(error);
				wait = AFTER_FAILURE_MS;
			}
			// Even a pause of 0 yields to other work.
			await this.pause(wait);
		}
	}

	private pause(ms: number): Promise<void> {
		if (ms === 0) return nextTurn();
		const { promise, resolve } = Promise.withResolvers<void>();
		const timer = setTimeout(resolve, ms);
		return Promise.race([promise, this.stopped]).finally(() => clearTimeout(timer));
	}
}
