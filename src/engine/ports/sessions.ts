/** Who is connected, on how many sockets, and who is set to away. */

export interface PresenceState {
	/** Connected and not set to away. */
	readonly active: boolean;
	/** The user set themselves to away. */
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
	/** Connected and not set to away. */
	isActive(user: string): Promise<boolean>;
	/** Everything that is known of one user. */
	presence(user: string): Promise<PresenceState>;
	activeAmong(users: readonly string[]): Promise<ReadonlySet<string>>;
}
