/** Names of keys and channels. The hash tag keeps all that belongs to a conversation, or a user, in one slot. */
export class Keys {
	constructor(readonly prefix: string) {}

	/**
	 * HASH: kind, team, archived, stamp, latest, floor, `changed` (stamp of the newest edit or delete); `b:<ts>`, entries that
	 * changed at or before the floor; and, for copies: `base` (when it came from the store), `changes` after `told_since` up to `told`.
	 */
	meta = (conversation: string): string => `${this.prefix}{${conversation}}:meta`;
	/** ZSET of timeline entries by ts. */
	timeline = (conversation: string): string => `${this.prefix}{${conversation}}:timeline`;
	/** ZSET of a thread's replies by ts; an entry with score 0 says that it is loaded. */
	thread = (conversation: string, root: number): string => `${this.prefix}{${conversation}}:t:${root}`;
	/** HASH: the whole read state of a user. */
	user = (user: string): string => `${this.prefix}{${user}}:state`;
	/** Which fields of it changed lately. */
	userChanges = (user: string): string => `${this.prefix}{${user}}:changes`;
	/** LIST of changes of a user whose state is not loaded. */
	pending = (user: string): string => `${this.prefix}{${user}}:pending`;
	/** SET of what a user had unread when a list of the inbox was begun; named by its stamp. */
	listing = (user: string, stamp: number): string => `${this.prefix}{${user}}:listing:${stamp}`;
	/** ZSET of connections by when they expire. */
	sessions = (user: string): string => `${this.prefix}{${user}}:sessions`;
	/** Exists while the user is set to away. */
	away = (user: string): string => `${this.prefix}{${user}}:away`;
	/** SET of the gateways that have, or had, connections. */
	gateways = (): string => `${this.prefix}{gateways}`;
	/** Set while the gateway gives signs of life. */
	gatewayAlive = (gateway: string): string => `${this.prefix}{gateway:${gateway}}:alive`;
	/** HASH of the gateway's connections: whose they are. */
	gatewayConnections = (gateway: string): string => `${this.prefix}{gateway:${gateway}}:connections`;
	/** Set while another gateway ends the connections of this one. */
	gatewayClaim = (gateway: string): string => `${this.prefix}{gateway:${gateway}}:claim`;
	/** What a ticket admits, until it is used or too old. */
	ticket = (ticket: string): string => `${this.prefix}ticket:{${ticket}}`;

	/** HASH of a partition of the log: generation, delivered. */
	partition = (partition: string): string => `${this.prefix}{partition:${partition}}:owner`;
	/** HASH: of those who publish to a channel on behalf of partitions, the newest generation by partition. */
	publishers = (channel: string): string => `${this.prefix}{${this.tagOf(channel)}}:publishers`;

	/** `live:C1` as a sharded channel: the id is its hash tag. */
	channel(topic: string): string {
		const colon = topic.indexOf(':') + 1;
		return `${this.prefix}${topic.slice(0, colon)}{${topic.slice(colon)}}`;
	}

	/** The hash tag of such a channel. */
	tagOf = (channel: string): string => channel.slice(channel.indexOf('{') + 1, -1);
}

/** Of the read state, what comes back from the store. What users chose, and who is connected, does not. */
export const isReadState = (key: string): boolean =>
	/}:(meta|timeline|t:\d+|state|changes|pending|listing:\d+)$/.test(key);

/** What says that a conversation, a thread or a user is loaded. */
export const isLoadedState = (key: string): boolean => /}:(meta|t:\d+|state)$/.test(key);
