import type { PresenceState, Sessions } from '../../ports/sessions.ts';
import type { Commands } from './connection.ts';
import { Gateways } from './gateways.ts';
import type { Keys } from './keys.ts';
import { repeating } from './repeating.ts';

/**
 * Who is connected to any gateway. Each gateway keeps its own connections alive, and registers them; those of a
 * gateway that died are ended by another one. What this process has and Redis does not know, because Redis was
 * emptied or this process was taken for dead, is registered again.
 */

export interface SessionHooks {
	/** The user's presence may be another one by something that nobody called: it has to be looked at. */
	onChanged(user: string): Promise<void>;
	onError(error: Error): void;
}

export interface SessionTimes {
	/** A connection that nobody refreshes is gone after this, whatever became of the gateways. */
	readonly lifetimeMs: number;
	/** A gateway that gave no sign of life for so long is dead. */
	readonly aliveMs: number;
}

const TIMES: SessionTimes = { lifetimeMs: 60_000, aliveMs: 30_000 };
const AT_ONCE = 200;

/** As the script answers: active before and after, how many connections, whether the user is set to away. */
type SessionState = readonly [before: number, after: number, connections: number, away: number];

type Change = 'connected' | 'disconnected' | 'away' | 'back' | 'beat' | 'ask';

export class RedisSessions implements Sessions {
	/** Connections of this process, and whose they are. */
	private readonly own = new Map<string, string>();
	private readonly gateways: Gateways;
	private readonly lifetimeMs: number;
	/** The first sign of life: whose connections are known has to be known itself. */
	private introduced: Promise<unknown> | undefined;
	private readonly ends: readonly (() => void)[];

	constructor(
		private readonly commands: Commands,
		private readonly keys: Keys,
		gateway: string,
		private readonly hooks: SessionHooks,
		{ lifetimeMs, aliveMs }: SessionTimes = TIMES,
	) {
		this.lifetimeMs = lifetimeMs;
		this.gateways = new Gateways(commands, keys, gateway, aliveMs);
		const { onError } = hooks;
		this.ends = [
			repeating(aliveMs / 3, () => this.beat(), onError),
			repeating(aliveMs / 3, () => this.sweep(), onError),
			repeating(lifetimeMs / 3, () => this.refresh(), onError),
		];
	}

	async connected(user: string, connection: string): Promise<boolean> {
		this.own.set(connection, user);
		await this.introduce();
		// Registered first: if this process dies in between, there is somebody to end it.
		if (this.own.has(connection)) await this.gateways.add(user, connection);
		// What ended meanwhile must not begin after its end.
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

	/** This and the next two are also done by timers. A sign of life; where Redis knows other connections, it learns. */
	async beat(): Promise<void> {
		if ((await this.gateways.beat()) !== this.own.size) await this.register();
	}

	/** Ends the connections of gateways that died. */
	async sweep(): Promise<void> {
		await this.gateways.sweep((user, connection) => this.end(user, connection));
	}

	/** Keeps the connections of this process from expiring. */
	async refresh(): Promise<void> {
		await inPieces([...this.own], ([connection, user]) => this.renew(user, connection));
	}

	close(): void {
		for (const end of this.ends) end();
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
		await inPieces([...this.own], async ([connection, user]) => {
			if (known.has(connection) || !this.own.has(connection)) return;
			await this.gateways.add(user, connection);
			await this.renew(user, connection);
		});
		// Their end did not reach Redis.
		await inPieces([...known], async ([connection, user]) => {
			if (this.own.has(connection)) return;
			await this.end(user, connection);
			await this.gateways.remove(connection);
		});
	}

	private async renew(user: string, connection: string): Promise<void> {
		if (!this.own.has(connection)) return;
		if (await this.changes(user, 'beat', connection)) await this.hooks.onChanged(user);
	}

	/** Whether it was the last one does not show where it expired before: so the user is looked at in any case. */
	private async end(user: string, connection: string): Promise<void> {
		await this.run(user, 'disconnected', connection);
		await this.hooks.onChanged(user);
	}

	private async changes(user: string, change: Change, connection?: string): Promise<boolean> {
		const [before, after] = await this.run(user, change, connection);
		return before !== after;
	}

	private async run(user: string, change: Change, connection = ''): Promise<SessionState> {
		const { commands, keys, lifetimeMs } = this;
		const result = await commands.sessions(
			keys.sessions(user),
			keys.away(user),
			change,
			connection,
			lifetimeMs,
		);
		return result as SessionState;
	}
}

/** All of them, but not all at once. */
async function inPieces<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
	for (let from = 0; from < all.length; from += AT_ONCE)
		await Promise.all(all.slice(from, from + AT_ONCE).map(work));
}
