import type { App } from '../engine/ports/apps.ts';
import type { Delivery } from './feed.ts';

/** A way to an app: its sockets, or its request URL. */
export interface Transport {
	/** False: nothing can be delivered now, and events wait without using up tries. */
	isOpen(): boolean;
	/** How many may be on their way at once. */
	readonly atOnce: number;
	/** Never rejects. */
	deliver(app: App, delivery: Delivery): Promise<DeliveryOutcome>;
}

export type DeliveryOutcome =
	| { readonly type: 'acknowledged' }
	/** `reason` in the words of Slack's retry headers, `detail` for the operator. */
	| { readonly type: 'failed'; readonly reason: string; readonly detail: string }
	/** The app asked not to be sent it again. */
	| { readonly type: 'refused'; readonly detail: string }
	/** It was lost with the connection: it goes out again at once, over another one. */
	| { readonly type: 'cut_off' };
