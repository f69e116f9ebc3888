import type { Page } from './accounts.ts';

/**
 * Storage of apps: their configuration, how far each has received its events, and state of their interactions.
 * Changes are durable when the promise resolves. Fields named `…At` are wall-clock ms, `…Ts` are microseconds.
 */

export interface App {
	readonly id: string;
	readonly team: string;
	readonly botUser: string;
	/** Signs requests to the app's URLs. */
	readonly signingSecret: string;
	/** JSON as it was sent; src/model/app-manifest.ts reads it. */
	readonly manifest: string;
	readonly createdTs: number;
	readonly updatedTs: number;
	/** Events before this stamp are not delivered. */
	readonly eventsSinceTs: number;
	/** For event names that the app subscribed to after its creation: events before the stamp are not delivered. */
	readonly addedEvents: AddedEvents;
	/** When HTTP delivery was paused because it had failed for too long; 0: not paused. */
	readonly pausedAt: number;
	/** Since when every delivery has failed; 0: the latest succeeded. */
	readonly failingSinceAt: number;
	readonly lastError: string;
	/** Number of events that were dropped after all retries. */
	readonly givenUp: number;
}

/** Stamps of subscriptions, by event name. */
export type AddedEvents = Readonly<Record<string, number>>;

export type AppTrouble = Pick<App, 'pausedAt' | 'failingSinceAt' | 'lastError'>;

/** An app-level token. */
export interface AppToken {
	readonly hash: string;
	readonly app: string;
	readonly team: string;
	readonly name: string;
	readonly createdTs: number;
	/** 0: valid. */
	readonly revokedTs: number;
}

export interface Webhook {
	readonly id: string;
	readonly app: string;
	readonly team: string;
	readonly conversation: string;
	readonly hash: string;
	readonly createdTs: number;
}

export type ViewKind = 'modal' | 'home';

/** An open modal of a user, or a user's home tab of an app. */
export interface AppView {
	readonly id: string;
	readonly app: string;
	readonly team: string;
	readonly user: string;
	readonly kind: ViewKind;
	/** Changes with every update. */
	readonly hash: string;
	/** The view in Slack's JSON format. */
	readonly body: string;
	/** Ids of the views below it in the stack, lowest first. */
	readonly below: readonly string[];
	readonly updatedTs: number;
}

/** An id that may be used `most` times. Uses are forgotten after `untilAt`. */
export interface LimitedUse {
	readonly id: string;
	readonly team: string;
	readonly untilAt: number;
	readonly most: number;
}

/** The stamp up to which an app has received the events of a stream: a conversation, a user, or the creation of a channel (`created:C…`). */
export type AppCursor = readonly [stream: string, stamp: number];

export interface Apps {
	create(app: App): Promise<void>;
	setManifest(app: string, manifest: string, at: number, addedEvents: AddedEvents): Promise<void>;
	/** Also removes everything that belongs to it: tokens, webhooks, cursors, sockets and views. */
	remove(app: string): Promise<void>;
	app(id: string): Promise<App | null>;
	appOfBot(user: string): Promise<App | null>;
	appsOf(team: string, after: string | null, limit: number): Promise<Page<App>>;
	/** All apps, by id. */
	all(after: string | null, limit: number): Promise<Page<App>>;

	addToken(token: AppToken): Promise<void>;
	token(hash: string): Promise<AppToken | null>;
	tokensOf(app: string): Promise<readonly AppToken[]>;
	revokeToken(hash: string, at: number): Promise<void>;

	cursors(app: string): Promise<ReadonlyMap<string, number>>;
	/** Cursors only rise. */
	advance(app: string, cursors: readonly AppCursor[]): Promise<void>;
	/** Resolves to true if this holder alone delivers the app's events until `untilAt`. */
	lease(app: string, holder: string, nowAt: number, untilAt: number): Promise<boolean>;
	release(app: string, holder: string): Promise<void>;
	setTrouble(app: string, trouble: AppTrouble): Promise<void>;
	addGivenUp(app: string, count: number): Promise<void>;

	/** Resolves to the number of the app's sockets, including this one. */
	socketOpened(
		socket: { readonly id: string; readonly app: string; readonly gateway: string },
		nowAt: number,
		untilAt: number,
	): Promise<number>;
	socketClosed(id: string): Promise<void>;
	/** Extends the leases of all sockets of this gateway. */
	keepSockets(gateway: string, untilAt: number): Promise<void>;
	/** For a gateway that starts: removes its own sockets, and sockets of any gateway whose lease ended before `beforeAt`. */
	removeSockets(gateway: string, beforeAt: number): Promise<void>;
	socketsOf(app: string, nowAt: number): Promise<number>;
	/** Gateways that hold a socket of the app. */
	gatewaysOf(app: string, nowAt: number): Promise<readonly string[]>;

	addWebhook(webhook: Webhook): Promise<void>;
	webhook(id: string): Promise<Webhook | null>;
	webhooksOf(app: string): Promise<readonly Webhook[]>;
	removeWebhook(id: string): Promise<void>;

	/** Uses an id, under a claim that is unique to this use and has no spaces. False: the id is used up. */
	use(limited: LimitedUse, claim: string): Promise<boolean>;

	saveView(view: AppView): Promise<void>;
	view(id: string): Promise<AppView | null>;
	removeViews(ids: readonly string[]): Promise<void>;
	/** Removes expired uses and sockets, and modals that were last updated before `modalsBeforeTs`. */
	tidy(nowAt: number, modalsBeforeTs: number): Promise<void>;
}
