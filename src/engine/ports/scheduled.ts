/** Messages to post later. */

export interface ScheduledMessage {
	/** Also the client_msg_id of the message: posting it repeatedly creates it once. */
	readonly id: string;
	readonly team: string;
	readonly user: string;
	readonly conversation: string;
	/** In seconds. */
	readonly postAt: number;
	/** In microseconds. */
	readonly createdTs: number;
	readonly content: ScheduledContent;
}

export interface ScheduledContent {
	readonly text: string;
	readonly extra: string | null;
	readonly threadTs: number | null;
	readonly broadcast: boolean;
}

export interface Scheduled {
	add(message: ScheduledMessage): Promise<void>;
	get(id: string): Promise<ScheduledMessage | null>;
	remove(id: string): Promise<void>;
	/** Leases a message to one gateway, which may extend its lease. `held`: another gateway has it; `gone`: it was removed. */
	lease(id: string, gateway: string, nowAt: number, untilAt: number): Promise<'leased' | 'held' | 'gone'>;
	/** Ends the lease of this gateway before its time. */
	release(id: string, gateway: string): Promise<void>;
	/** Messages of a user, by time and id, after the given time and id. */
	of(
		user: string,
		query: {
			readonly conversation: string | null;
			/** In seconds, inclusive. */
			readonly oldest: number;
			readonly latest: number;
			readonly after: { readonly postAt: number; readonly id: string } | null;
			readonly limit: number;
		},
	): Promise<readonly ScheduledMessage[]>;
	/** Messages that are due, oldest first. */
	due(nowSeconds: number, limit: number): Promise<readonly ScheduledMessage[]>;
}
