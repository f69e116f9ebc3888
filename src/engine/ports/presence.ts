/** Presence of users: their sockets, and whether they are set to away. */

export interface PresenceState {
	/** Connected and not set to away. */
	readonly active: boolean;
	/** The user set themselves to away. */
	readonly away: boolean;
	/** Number of sockets, on all gateways. */
	readonly connections: number;
}

export interface PresenceStore {
	/** Resolves to whether the user's presence changed. */
	connected(user: string, connection: string): Promise<boolean>;
	disconnected(user: string, connection: string): Promise<boolean>;
	/** The user's choice; it outlasts disconnects. */
	setAway(user: string, away: boolean): Promise<boolean>;
	/** Connected and not set to away. */
	isActive(user: string): Promise<boolean>;
	presence(user: string): Promise<PresenceState>;
	activeAmong(users: readonly string[]): Promise<ReadonlySet<string>>;
}
