import { PeriodicJob } from '../../../model/periodic-job.ts';
import type { PresenceState, PresenceStore } from '../../ports/presence.ts';
import type { Commands } from './connection.ts';
import { Gateways } from './gateways.ts';
import type { Keys } from './keys.ts';

/**
 * Presence over all gateways. Each gateway registers its connections and keeps them alive; connections of a
 * dead gateway are removed by another one. Connections of this process that Redis does not have, because it was
 * emptied or this process seemed dead, are registered again.
 */

export interface PresenceHooks {
	/** The user's presence may have changed without a call: read it again. */
	onChanged(user: string): Promise<void>;
	onError(error: Error): void;
}

export interface PresenceTimes {
	/** A connection expires after this time without a refresh. */
	readonly lifetimeMs: number;
	/** A gateway without a heartbeat for this long is dead. */
	readonly aliveMs: number;
}

const TIMES: PresenceTimes = { lifetimeMs: 60_000, aliveMs: 30_000 };
const CONCURRENCY = 200;

/** The result of the script: active before and after, number of connections, whether the user is set to away. */
type ScriptResult = readonly [before: number, after: number, connections: number, away: number];

type Change = 'connected' | 'disconnected' | 'away' | 'back' | 'beat' | 'ask';

export class RedisPresence implements PresenceStore {
	/** Connections of this process: connection to user. */
	private readonly own = new Map<string, string>();
	private readonly gateways: Gateways;
	private readonly lifetimeMs: number;
	/** The first heartbeat: a gateway must be registered before its connections. */
	private introduced: Promise<unknown> | undefined;
	private readonly jobs: readonly PeriodicJob[];

	constructor(
		private readonly commands: Commands,
		private readonly keys: Keys,
		gateway: string,
		private readonly hooks: PresenceHooks,
		{ lifetimeMs, aliveMs }: PresenceTimes = TIMES,
	) {
		this.lifetimeMs = lifetimeMs;
		this.gateways = new Gateways(commands, keys, gateway, aliveMs);
		const repeat = (everyMs: number, work: () => Promise<void>): PeriodicJob =>
			new PeriodicJob(everyMs, work, (error) => hooks.onError(error as Error));
		this.jobs = [
			repeat(aliveMs / 3, () => this.beat()),
			repeat(aliveMs / 3, () => this.sweep()),
			repeat(lifetimeMs / 3, () => this.refresh()),
		];
	}

	async connected(user: string, connection: string): Promise<boolean> {
		this.own.set(connection, user);
		await this.introduce();
		// Registered first, so that another gateway can remove it if this process dies in between.
		if (this.own.has(connection)) await this.gateways.add(user, connection);
		// It may have been disconnected in the meantime.
		if (!this.own.has(connection)) return false;
		return this.changes(user, 'connected', connection);
	}

	async disconnected(user: string, connection: string): Promise<boolean> {
		this.own.delete(connection);
		const changed = await this.changes(user, 'disconnected', connection);
		await this.gateways.remove(connection);
		return changed;
	}

	async setAway(user: string, away: boolean): Promise<boolean> {
		return this.changes(user, away ? 'away' : 'back');
	}

	async isActive(user: string): Promise<boolean> {
		const [, after] = await this.run(user, 'ask');
		return after === 1;
	}

	async presence(user: string): Promise<PresenceState> {
		const [, active, connections, away] = await this.run(user, 'ask');
		return { active: active === 1, away: away === 1, connections };
	}

	async activeAmong(users: readonly string[]): Promise<ReadonlySet<string>> {
		const active = await Promise.all(users.map((user) => this.isActive(user)));
		return new Set(users.filter((_, index) => active[index]));
	}

	/** Sends a heartbeat, and registers connections again if Redis has a different number. Timers call this and the next two. */
	async beat(): Promise<void> {
		if ((await this.gateways.beat()) !== this.own.size) await this.register();
	}

	/** Removes connections of dead gateways. */
	async sweep(): Promise<void> {
		await this.gateways.sweep((user, connection) => this.end(user, connection));
	}

	/** Keeps this process's connections from expiring. */
	async refresh(): Promise<void> {
		await inChunks([...this.own], ([connection, user]) => this.renew(user, connection));
	}

	close(): void {
		for (const job of this.jobs) void job.stop();
	}

	private async introduce(): Promise<void> {
		this.introduced ??= this.gateways.beat();
		try {
			await this.introduced;
		} catch (error) {
			this.introduced = undefined;
			throw error;
		}
	}

	private async register(): Promise<void> {
		const known = await this.gateways.known();
		await inChunks([...this.own], async ([connection, user]) => {
			if (known.has(connection) || !this.own.has(connection)) return;
			await this.gateways.add(user, connection);
			await this.renew(user, connection);
		});
		// Connections that ended without Redis being informed.
		await inChunks([...known], async ([connection, user]) => {
			if (this.own.has(connection)) return;
			await this.end(user, connection);
			await this.gateways.remove(connection);
		});
	}

	private async renew(user: string, connection: string): Promise<void> {
		if (!this.own.has(connection)) return;
		if (await this.changes(user, 'beat', connection)) await this.hooks.onChanged(user);
	}

	/** Reports the user in any case: if the connection had already expired, the script does not show that it was the last. */
	private async end(user: string, connection: string): Promise<void> {
		await this.run(user, 'disconnected', connection);
		await this.hooks.onChanged(user);
	}

	private async changes(user: string, change: Change, connection?: string): Promise<boolean> {
		const [before, after] = await this.run(user, change, connection);
		return before !== after;
	}

	private async run(user: string, change: Change, connection = ''): Promise<ScriptResult> {
		const { commands, keys, lifetimeMs } = this;
		const result = await commands.presence(
			keys.connections(user),
			keys.away(user),
			change,
			connection,
			lifetimeMs,
		);
		return result as ScriptResult;
	}
}

/** Limits concurrency. */
async function inChunks<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
	for (let from = 0; from < all.length; from += CONCURRENCY)
		await Promise.all(all.slice(from, from + CONCURRENCY).map(work));
}

/** Presence for processes that hold no connections, and therefore are not registered as gateways. */
export const presenceView = (commands: Commands, keys: Keys): Pick<PresenceStore, 'activeAmong'> => ({
	activeAmong: async (users) => {
		const answers = await Promise.all(
			users.map((user) => commands.presence(keys.connections(user), keys.away(user), 'ask', '', 0)),
		);
		return new Set(users.filter((_, index) => (answers[index] as readonly [number, number])[1] === 1));
	},
});
