import type { Sessions } from '../../ports/sessions.ts';
import type { Commands } from './connection.ts';
import type { Keys } from './keys.ts';

/**
 * Who is connected to any gateway. A connection is kept alive by the gateway that has it; those of a gateway
 * that died expire.
 */

const LIFETIME_MS = 60_000;

type Change = 'connected' | 'disconnected' | 'away' | 'back' | 'beat' | 'ask';

export class RedisSessions implements Sessions {
	/** Connections of this process, and whose they are. */
	private readonly own = new Map<string, string>();
	private readonly timer: ReturnType<typeof setInterval>;

	constructor(
		private readonly commands: Commands,
		private readonly keys: Keys,
		onError: (error: Error) => void,
		private readonly lifetimeMs = LIFETIME_MS,
	) {
		this.timer = setInterval(() => this.beat().catch(onError), lifetimeMs / 3);
		this.timer.unref();
	}

	async connected(user: string, connection: string): Promise<boolean> {
		this.own.set(connection, user);
		return this.changes(user, 'connected', connection);
	}

	async disconnected(user: string, connection: string): Promise<boolean> {
		this.own.delete(connection);
		return this.changes(user, 'disconnected', connection);
	}

	async setAway(user: string, away: boolean): Promise<boolean> {
		return this.changes(user, away ? 'away' : 'back');
	}

	async isActive(user: string): Promise<boolean> {
		const [, after] = await this.run(user, 'ask');
		return after === 1;
	}

	async activeAmong(users: readonly string[]): Promise<ReadonlySet<string>> {
		const active = await Promise.all(users.map((user) => this.isActive(user)));
		return new Set(users.filter((_, index) => active[index]));
	}

	/** Refreshes the connections of this process; also called by a timer. */
	async beat(): Promise<void> {
		await Promise.all([...this.own].map(([connection, user]) => this.run(user, 'beat', connection)));
	}

	close(): void {
		clearInterval(this.timer);
	}

	private async changes(user: string, change: Change, connection?: string): Promise<boolean> {
		const [before, after] = await this.run(user, change, connection);
		return before !== after;
	}

	private async run(user: string, change: Change, connection = ''): Promise<readonly [number, number]> {
		const { commands, keys, lifetimeMs } = this;
		const result = await commands.sessions(
			keys.sessions(user),
			keys.away(user),
			change,
			connection,
			lifetimeMs,
		);
		return result as [number, number];
	}
}
