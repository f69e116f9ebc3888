import type { PresenceState, PresenceStore } from '../ports/presence.ts';

/** Presence of users, in the memory of this process. */
export class MemoryPresence implements PresenceStore {
	/** Connections by user. A user has few, and an array takes a fifth of a set's memory. */
	private readonly connections = new Map<string, readonly string[]>();
	/** Users who set themselves away. */
	private readonly away = new Set<string>();

	async connected(user: string, connection: string): Promise<boolean> {
		const others = this.connectionsOf(user).filter((one) => one !== connection);
		return this.changing(user, () => this.connections.set(user, [...others, connection]));
	}

	async disconnected(user: string, connection: string): Promise<boolean> {
		const others = this.connectionsOf(user).filter((one) => one !== connection);
		return this.changing(user, () => {
			if (others.length > 0) this.connections.set(user, others);
			else this.connections.delete(user);
		});
	}

	async setAway(user: string, away: boolean): Promise<boolean> {
		return this.changing(user, () => {
			if (away) this.away.add(user);
			else this.away.delete(user);
		});
	}

	async isActive(user: string): Promise<boolean> {
		return this.isActiveNow(user);
	}

	async presence(user: string): Promise<PresenceState> {
		return {
			active: this.isActiveNow(user),
			away: this.away.has(user),
			connections: this.connectionsOf(user).length,
		};
	}

	async activeAmong(users: readonly string[]): Promise<ReadonlySet<string>> {
		return new Set(users.filter((user) => this.isActiveNow(user)));
	}

	/** Returns whether the user became active or inactive. */
	private changing(user: string, change: () => void): boolean {
		const before = this.isActiveNow(user);
		change();
		return this.isActiveNow(user) !== before;
	}

	private connectionsOf(user: string): readonly string[] {
		return this.connections.get(user) ?? [];
	}

	private isActiveNow(user: string): boolean {
		return this.connections.has(user) && !this.away.has(user);
	}
}
