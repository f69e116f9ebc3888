import type { PresenceState, PresenceStore } from '../ports/presence.ts';

interface UserPresence {
	/** A user has few connections, and an array takes a fifth of a set's memory. */
	connections: readonly string[];
	away: boolean;
}

/** Presence of users, in the memory of this process. */
export class MemoryPresence implements PresenceStore {
	private readonly users = new Map<string, UserPresence>();

	async connected(user: string, connection: string): Promise<boolean> {
		return this.changing(user, (presence) => {
			if (!presence.connections.includes(connection))
				presence.connections = [...presence.connections, connection];
		});
	}

	async disconnected(user: string, connection: string): Promise<boolean> {
		return this.changing(user, (presence) => {
			presence.connections = presence.connections.filter((one) => one !== connection);
		});
	}

	async setAway(user: string, away: boolean): Promise<boolean> {
		return this.changing(user, (presence) => {
			presence.away = away;
		});
	}

	async isActive(user: string): Promise<boolean> {
		return isActive(this.users.get(user));
	}

	async presence(user: string): Promise<PresenceState> {
		const presence = this.users.get(user);
		return {
			active: isActive(presence),
			away: presence?.away ?? false,
			connections: presence?.connections.length ?? 0,
		};
	}

	async activeAmong(users: readonly string[]): Promise<ReadonlySet<string>> {
		return new Set(users.filter((user) => isActive(this.users.get(user))));
	}

	private changing(user: string, change: (presence: UserPresence) => void): boolean {
		const presence = this.users.get(user) ?? { connections: [], away: false };
		const before = isActive(presence);
		change(presence);
		if (presence.connections.length === 0 && !presence.away) this.users.delete(user);
		else this.users.set(user, presence);
		return isActive(presence) !== before;
	}
}

const isActive = (presence: UserPresence | undefined): boolean =>
	presence !== undefined && presence.connections.length > 0 && !presence.away;
