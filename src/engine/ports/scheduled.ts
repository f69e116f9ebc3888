/** Messages to be posted later, until they are. */

export interface ScheduledMessage {
	/** Also the message's client_msg_id: however often it is posted, it is there once. */
	readonly id: string;
	readonly team: string;
	readonly user: string;
	readonly conversation: string;
	/** Seconds. */
	readonly postAt: number;
	/** Micros. */
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
	/** Of a user, in the order of their time, those of exactly this second and after this id first. */
	of(
		user: string,
		query: {
			readonly conversation: string | null;
			/** Seconds, inclusive. */
			readonly oldest: number;
			readonly latest: number;
			readonly after: { readonly postAt: number; readonly id: string } | null;
			readonly limit: number;
		},
	): Promise<readonly ScheduledMessage[]>;
	/** Those whose time has come, the oldest first. */
	due(nowSeconds: number, limit: number): Promise<readonly ScheduledMessage[]>;
}
