import type { Outcome } from '../../sequencer/commands.ts';

/** Live topics: of a conversation, of a user, of a workspace, of a user's presence, answers to a gateway. */
export type Topic =
	| `live:${string}`
	| `user:${string}`
	| `team:${string}`
	| `presence:${string}`
	| `gateway:${string}`;

export type BusMessage =
	/** An event, serialised once, on its way to sockets. */
	| {
			readonly type: 'event';
			readonly frame: string;
			/** Stamp of the change it tells of; none for what leaves no trace, as typing does. */
			readonly at?: number;
			/** Not for the sockets of this user. */
			readonly exceptUser?: string;
	  }
	/** The user is in a conversation from here on, or no longer: what its sockets listen to changes. */
	| { readonly type: 'joined' | 'left'; readonly user: string; readonly conversation: string }
	/** The user's sockets are to be closed: its token or account is gone. */
	| { readonly type: 'signed_out'; readonly token: string }
	| { readonly type: 'reply'; readonly request: number; readonly outcome: Outcome };

/** Carries messages to whoever is interested right now; keeps none. Order within a topic is kept. */
export interface Bus {
	publish(topic: Topic, message: BusMessage): void;
	/** Returns what ends the subscription. */
	subscribe(topic: Topic, handler: (message: BusMessage) => void): () => void;
}
