import type { App } from '../engine/ports/apps.ts';
import type { Delivery } from './feed.ts';

/** A connection to an app: its sockets, or its request URL. */
export interface Transport {
	/** False: nothing can be delivered now; events wait without using up attempts. */
	isOpen(): boolean;
	/** Maximum number of deliveries in flight. */
	readonly maxInFlight: number;
	/**
	 * Whether an app is paused after all its deliveries have failed for long. False for sockets: an app with an open
	 * socket can receive events. The dispatcher drops the events that fail, and delivers the others.
	 */
	readonly pausesFailingApps: boolean;
	/** Rejects only for unexpected errors; the dispatcher tries again. */
	deliver(app: App, delivery: Delivery): Promise<DeliveryOutcome>;
}

export type DeliveryOutcome =
	| { readonly type: 'acknowledged' }
	/** `reason` as in Slack's retry headers, `detail` for the operator. */
	| { readonly type: 'failed'; readonly reason: string; readonly detail: string }
	/** The app requested no retry. */
	| { readonly type: 'rejected'; readonly detail: string }
	/** The connection closed before the acknowledgement: deliver again at once over another one. */
	| { readonly type: 'disconnected' };
