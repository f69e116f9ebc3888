import type { PresenceState, Sessions } from '../ports/sessions.ts';

interface Session {
	/** A user has few connections, and an array takes a fifth of a set's memory. */
	connections: readonly string[];
	away: boolean;
}

/** Sessions of this process. */
export class MemorySessions implements Sessions {
	private readonly sessions = new Map<string, Session>();

	async connected(user: string, connection: string): Promise<boolean> {
		return this.changing(user, (session) => {
			if (!session.connections.includes(connection))
				session.connections = [...session.connections, connection];
		});
	}

	async disconnected(user: string, connection: string): Promise<boolean> {
		return this.changing(user, (session) => {
			session.connections = session.connections.filter((one) => one !== connection);
		});
	}

	async setAway(user: string, away: boolean): Promise<boolean> {
		return this.changing(user, (session) => {
			session.away = away;
		});
	}

	async isActive(user: string): Promise<boolean> {
		return isActive(this.sessions.get(user));
	}

	async presence(user: string): Promise<PresenceState> {
		const session = this.sessions.get(user);
		return {
			active: isActive(session),
			away: session?.away ?? false,
			connections: session?.connections.length ?? 0,
		};
	}

	async activeAmong(users: readonly string[]): Promise<ReadonlySet<string>> {
		return new Set(users.filter((user) => isActive(this.sessions.get(user))));
	}

	private changing(user: string, change: (session: Session) => void): boolean {
		const session = this.sessions.get(user) ?? { connections: [], away: false };
		const before = isActive(session);
		change(session);
		if (session.connections.length === 0 && !session.away) this.sessions.delete(user);
		else this.sessions.set(user, session);
		return isActive(session) !== before;
	}
}

const isActive = (session: Session | undefined): boolean =>
	session !== undefined && session.connections.length > 0 && !session.away;
