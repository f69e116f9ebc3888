import type { Outcome } from '../../sequencer/commands.ts';

export const EVERY_GATEWAY = 'gateways:all';

/** What a process can subscribe to on the bus. */
export type Topic =
	/** Events of a conversation. */
	| `live:${string}`
	/** Events of a user. */
	| `user:${string}`
	/** Events of a workspace. */
	| `team:${string}`
	/** Presence of a user. */
	| `presence:${string}`
	/** Worker replies to one gateway, and the requests and answers of apps that gateways pass to each other. */
	| `gateway:${string}`
	/** Messages of a process to itself, to check its connections. */
	| `pulse:${string}`
	| typeof EVERY_GATEWAY;

/** How an event affects cursors and counts. */
export type About =
	| {
			readonly change: 'posted' | 'edited' | 'deleted';
			readonly conversation: string;
			readonly ts: number;
			readonly author: string;
			readonly threadTs: number | null;
			/** The message is, or was, in the timeline. */
			readonly inTimeline: boolean;
			/** The message mentions active users; clients do not know who they are. */
			readonly here: boolean;
	  }
	/** A conversation starts or stops counting for the user: joined, left, archived, unarchived. Null: there is no row to send. */
	| { readonly change: 'membership'; readonly conversation: string | null }
	/** Followed threads, or their cursors, changed. */
	| { readonly change: 'threads' };

export type BusMessage =
	/** An event for sockets, serialised once. */
	| {
			readonly type: 'event';
			readonly frame: string;
			/** Stamp of the change; absent for events without a stored change, such as typing. */
			readonly at?: number;
			/** The subject of the event (src/protocol/live-event.ts); absent without a stamp, or from a process of an older release. */
			readonly subject?: string;
			/** Sockets of this user do not get it. */
			readonly exceptUser?: string;
			/** How the event affects counts, for subscribers that do more than forward it. */
			readonly about?: About;
	  }
	/** The user joined or left a conversation: their sockets subscribe to it or unsubscribe. */
	| {
			readonly type: 'joined' | 'left';
			readonly user: string;
			readonly conversation: string;
			/** Stamp of the change. */
			readonly at: number;
	  }
	/** A token of the user (null: all) was revoked: drop it from caches and close its sockets. */
	| { readonly type: 'signed_out'; readonly user: string; readonly token: string | null }
	/** Messages to this topic may have been lost: subscribers have to reload. */
	| { readonly type: 'lost' }
	/** To all gateways: a stored change may never have been published. */
	| { readonly type: 'missed' }
	/** From a process to itself: checks that its subscriptions still work. */
	| { readonly type: 'pulse'; readonly round: number }
	| ({ readonly type: 'reply' } & WorkerReply)
	/** To gateways that accept batches: `CommandRecord.replyTo`. */
	| { readonly type: 'replies'; readonly replies: readonly WorkerReply[] }
	/** To a gateway with a socket of this app: an envelope to forward, and the gateway that waits for the answer. */
	| {
			readonly type: 'app_request';
			readonly request: string;
			readonly from: string;
			readonly app: string;
			readonly kind: string;
			/** JSON. */
			readonly payload: string;
	  }
	/** The app's answer in JSON; null: it did not answer. */
	| { readonly type: 'app_answer'; readonly request: string; readonly answer: string | null }
	/** To all gateways: an app was created, changed or removed, or lost its last socket at a gateway. */
	| { readonly type: 'app_changed'; readonly app: string };

export interface WorkerReply {
	readonly request: number;
	readonly outcome: Outcome;
}

/** The owner of a partition that publishes: src/engine/ports/publication-record.ts. */
export interface Publisher {
	readonly partition: string;
	readonly generation: number;
}

/** Gets the topic, so that one handler can serve many topics without a closure for each. */
export type BusHandler = (message: BusMessage, topic: Topic) => void;

/**
 * Delivers messages to current subscribers and stores none. Messages of one topic keep their order; there is no order between
 * topics. A subscriber gets every message published after `ready`. A session that subscribes because of a `joined` message may miss
 * messages until `ready`: `LiveJoins` reads those changes from the store. If a message cannot be delivered, subscribers get `lost` as
 * soon as possible.
 */
export interface Bus {
	/** Resolves when all subscriptions so far are confirmed. */
	ready(): Promise<void>;
	/** Whether this process currently receives messages of a topic that it subscribes to, as far as it knows. */
	isReceiving(topic: Topic): boolean;
	publish(topic: Topic, message: BusMessage): void;
	/**
	 * Publishes on behalf of a partition. Resolves to false if the message was dropped because a later owner of the partition has
	 * published to the topic; to true once it is published, or once subscribers got `lost` instead.
	 */
	publishAs(publisher: Publisher, topic: Topic, message: BusMessage): Promise<boolean>;
	subscribe(topic: Topic, handler: BusHandler): void;
	/** Removes a subscription with the same topic and handler. */
	unsubscribe(topic: Topic, handler: BusHandler): void;
}
