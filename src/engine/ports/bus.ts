import type { Outcome } from '../../sequencer/commands.ts';

/**
 * Live topics: of a conversation, a user, a workspace, a user's presence, answers to a gateway, word to them all; and of a
 * process that checks its own connections.
 */
export type Topic =
	| `live:${string}`
	| `user:${string}`
	| `team:${string}`
	| `presence:${string}`
	| `gateway:${string}`
	| `pulse:${string}`
	| 'gateways:all';

/** What an event means for read positions and counts. */
export type About =
	| {
			readonly change: 'posted' | 'edited' | 'deleted';
			readonly conversation: string;
			readonly ts: number;
			readonly author: string;
			readonly threadTs: number | null;
			/** It stands, or stood, in the timeline. */
			readonly inTimeline: boolean;
			/** It mentions active users: a client does not know who they are. */
			readonly here: boolean;
	  }
	/** A conversation came to count for its members, or no longer does; null: there is no row to send. */
	| { readonly change: 'standing'; readonly conversation: string | null }
	/** What the user follows, or has read of it, is another one now. */
	| { readonly change: 'threads' };

export type BusMessage =
	/** An event, serialised once, on its way to sockets. */
	| {
			readonly type: 'event';
			readonly frame: string;
			/** Stamp of its change; none for events without a stored change, such as typing. */
			readonly at?: number;
			/** The thing it is about (src/protocol/live-event.ts); none where there is no stamp, nor from a process of an older release. */
			readonly subject?: string;
			/** Not for the sockets of this user. */
			readonly exceptUser?: string;
			/** The message it is about, for who does more with it than pass it on. */
			readonly about?: About;
	  }
	/** The user is in a conversation from here on, or no longer: what its sockets listen to changes. */
	| {
			readonly type: 'joined' | 'left';
			readonly user: string;
			readonly conversation: string;
			/** Stamp of the change. */
			readonly at: number;
	  }
	/** A token was revoked, or (null) all of the user: forget it, and close the sockets that were opened with it. */
	| { readonly type: 'signed_out'; readonly user: string; readonly token: string | null }
	/** Messages to this topic may have been lost: its subscribers have to start over. */
	| { readonly type: 'lost' }
	/** To all gateways: something that is stored may never have been published. */
	| { readonly type: 'missed' }
	/** A process to itself: its subscriptions still carry messages. */
	| { readonly type: 'pulse'; readonly round: number }
	| ({ readonly type: 'reply' } & Reply)
	/** To gateways that ask for it: `CommandEntry.replyTo`. */
	| { readonly type: 'replies'; readonly replies: readonly Reply[] }
	/** To the gateway that has a socket of this app: an envelope to pass on, and who waits for what the app answers. */
	| {
			readonly type: 'app_request';
			readonly request: string;
			readonly from: string;
			readonly app: string;
			readonly kind: string;
			/** JSON. */
			readonly payload: string;
	  }
	/** What the app answered: JSON; null: it did not. */
	| { readonly type: 'app_answer'; readonly request: string; readonly answer: string | null }
	/** To all gateways: an app was made, changed or removed, or lost its last socket at a gateway. */
	| { readonly type: 'app_changed'; readonly app: string };

export interface Reply {
	readonly request: number;
	readonly outcome: Outcome;
}

/** On behalf of which owner of which partition something is published: src/engine/ports/delivery-record.ts. */
export interface Publisher {
	readonly partition: string;
	readonly generation: number;
}

/** Gets the topic: one handler may serve many topics without a closure for each. */
export type BusHandler = (message: BusMessage, topic: Topic) => void;

/**
 * Delivers messages to current subscribers; keeps none. Order within a topic is kept, and there is none between topics:
 * what was published before `ready`, or before the message that made one subscribe arrived, has to be looked up. Where a message
 * cannot be carried, `lost` is, as soon as that is possible: nobody goes on for long as if there had been nothing.
 */
export interface Bus {
	/** Resolves when every subscription so far is confirmed. */
	ready(): Promise<void>;
	/** Whether messages published to this topic now arrive here, as far as is known. For a subscribed topic. */
	isReceiving(topic: Topic): boolean;
	publish(topic: Topic, message: BusMessage): void;
	/**
	 * The same on behalf of a partition. Answers false where it was dropped, because a later owner of the partition has published
	 * to the topic; true when it is published, or `lost` will be.
	 */
	publishAs(publisher: Publisher, topic: Topic, message: BusMessage): Promise<boolean>;
	subscribe(topic: Topic, handler: BusHandler): void;
	/** Ends what was begun with the same two. */
	unsubscribe(topic: Topic, handler: BusHandler): void;
}
