/** Who is connected, on how many sockets, and who is away. */

export interface SessionStanding {
	/** Connected and not away. */
	readonly active: boolean;
	/** The user chose to be away. */
	readonly away: boolean;
	/** Sockets, on every gateway. */
	readonly connections: number;
}

export interface Sessions {
	/** Answers whether the user's presence changed by it. */
	connected(user: string, connection: string): Promise<boolean>;
	disconnected(user: string, connection: string): Promise<boolean>;
	/** What the user chose; `away` holds while connected. */
	setAway(user: string, away: boolean): Promise<boolean>;
	/** Connected and not away. */
	isActive(user: string): Promise<boolean>;
	/** Everything that is known of one user. */
	standing(user: string): Promise<SessionStanding>;
	activeAmong(users: readonly string[]): Promise<ReadonlySet<string>>;
}
