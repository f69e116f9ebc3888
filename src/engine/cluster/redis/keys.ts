/** Names of keys and channels. The hash tag keeps all keys of a conversation, or of a user, in one slot. */
export class Keys {
	constructor(readonly prefix: string) {}

	/**
	 * HASH of a conversation that has changed lately:
	 *
	 *     stamp       of the newest change
	 *     base        when recording began
	 *     since       the stamp after which `recent` has all changes
	 *     newest      the stamp of the newest command in `recent`; lower than `stamp` if later commands changed no entry
	 *     written     the stamp that the store had reached when the newest change was applied
	 *     repaired    1 after a repair: copies that were loaded from the store before recording began are outdated too
	 *     seen        when the newest change was applied, for resuming clients
	 *     late        the longest delay until a change became visible, for resuming clients
	 *     late_seen   when `late` was last set
	 */
	meta = (conversation: string): string => `${this.prefix}{${conversation}}:meta`;
	/** `stamp:base:late_seen` of the conversation, as a key of its own: one MGET reads many (lua/versions-1.lua). */
	version = (conversation: string): string => `${this.prefix}{${conversation}}:version`;
	/** ZSET of the conversation's recent changes by stamp, with all that the store may lack. */
	recent = (conversation: string): string => `${this.prefix}{${conversation}}:recent`;
	/** What Redis records of a conversation, in the order that scripts expect. */
	recorded = (conversation: string): string[] => [
		this.meta(conversation),
		this.recent(conversation),
		this.version(conversation),
	];
	/**
	 * HASH of a user's fields that have changed lately (read-state/packing.ts); `version`, which rises with every change; `since`, the version
	 * after which `fieldNames` has all changes; `late` and `late_seen`, as in `meta`.
	 */
	fields = (user: string): string => `${this.prefix}{${user}}:fields`;
	/** ZSET of the names of these fields, by the version that changed them last. */
	fieldNames = (user: string): string => `${this.prefix}{${user}}:names`;
	/** SET of a user's unread conversations at the start of an unread-first listing; named by its stamp. */
	listing = (user: string, stamp: number): string => `${this.prefix}{${user}}:listing:${stamp}`;
	/** ZSET of a user's connections by expiry. */
	connections = (user: string): string => `${this.prefix}{${user}}:sessions`;
	/** Exists while the user is set to away. */
	away = (user: string): string => `${this.prefix}{${user}}:away`;
	/** SET of gateways that have, or had, connections. */
	gateways = (): string => `${this.prefix}{gateways}`;
	/** Exists while the gateway sends heartbeats. */
	gatewayAlive = (gateway: string): string => `${this.prefix}{gateway:${gateway}}:alive`;
	/** HASH of the gateway's connections: connection to user. */
	gatewayConnections = (gateway: string): string => `${this.prefix}{gateway:${gateway}}:connections`;
	/** Exists while another gateway removes the connections of this one. */
	gatewayClaim = (gateway: string): string => `${this.prefix}{gateway:${gateway}}:claim`;
	/** The admission of a ticket, until it is used or expires. */
	ticket = (ticket: string): string => `${this.prefix}ticket:{${ticket}}`;

	/** HASH of a partition of the log: generation, published, reloaded. */
	partition = (partition: string): string => `${this.prefix}{partition:${partition}}:owner`;
	/** HASH of the newest generation of each partition that publishes to the channel. */
	publishers = (channel: string): string => `${this.prefix}{${this.tagOf(channel)}}:publishers`;

	/** `live:C1` as a sharded channel: the id is its hash tag. */
	channel(topic: string): string {
		const colon = topic.indexOf(':') + 1;
		return `${this.prefix}${topic.slice(0, colon)}{${topic.slice(colon)}}`;
	}

	/** The hash tag of a channel. */
	tagOf = (channel: string): string => channel.slice(channel.indexOf('{') + 1, -1);
}

/** Keys of the read state. If the store has everything, they may be removed; a lost listing is answered with `no_such_listing`. */
export const isReadState = (key: string): boolean =>
	/}:(meta|version|recent|fields|names|listing:\d+)$/.test(key);
