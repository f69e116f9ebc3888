import type { Page } from './accounts.ts';

/**
 * What is kept of apps: what they are, how far each has taken its events, and what their interactions need to remember.
 * Changes are durable when they resolve. Times named `…At` are ms of the wall clock, those named `…Ts` are micros.
 */

export interface App {
	readonly id: string;
	readonly team: string;
	readonly botUser: string;
	/** Signs what is sent to the app's URLs. */
	readonly signingSecret: string;
	/** As it was given, JSON: src/model/app-manifest.ts reads it. */
	readonly manifest: string;
	readonly createdTs: number;
	readonly updatedTs: number;
	/** Events from before this stamp are not delivered. */
	readonly eventsSinceTs: number;
	/** Delivery over HTTP stopped, because it failed for too long; 0: it did not. */
	readonly pausedAt: number;
	/** Since when every delivery over HTTP fails; 0: the newest one succeeded. */
	readonly failingSinceAt: number;
	readonly lastError: string;
	/** Events that were given up. */
	readonly givenUp: number;
}

export type AppTrouble = Pick<App, 'pausedAt' | 'failingSinceAt' | 'lastError'>;

/** An app-level token. */
export interface AppToken {
	readonly hash: string;
	readonly app: string;
	readonly team: string;
	readonly name: string;
	readonly createdTs: number;
	/** 0: it is valid. */
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

/** A modal that a user has open, or what a user's home tab of an app shows. */
export interface AppView {
	readonly id: string;
	readonly app: string;
	readonly team: string;
	readonly user: string;
	readonly kind: ViewKind;
	/** Changes with every version. */
	readonly hash: string;
	/** Slack's view, JSON. */
	readonly body: string;
	/** The views under it, the lowest first. */
	readonly below: readonly string[];
	readonly updatedTs: number;
}

/** Up to which stamp an app has taken the events of a conversation. */
export type AppCursor = readonly [conversation: string, stamp: number];

export interface Apps {
	create(app: App): Promise<void>;
	setManifest(app: string, manifest: string, at: number, eventsSinceTs: number): Promise<void>;
	/** With its tokens, webhooks and cursors. */
	remove(app: string): Promise<void>;
	app(id: string): Promise<App | null>;
	appOfBot(user: string): Promise<App | null>;
	appsOf(team: string, after: string | null, limit: number): Promise<Page<App>>;
	/** Every app, by id. */
	all(after: string | null, limit: number): Promise<Page<App>>;

	addToken(token: AppToken): Promise<void>;
	token(hash: string): Promise<AppToken | null>;
	tokensOf(app: string): Promise<readonly AppToken[]>;
	revokeToken(hash: string, at: number): Promise<void>;

	cursors(app: string): Promise<ReadonlyMap<string, number>>;
	/** Cursors only rise. */
	advance(app: string, cursors: readonly AppCursor[]): Promise<void>;
	/** Answers whether this holder alone delivers the app's events until then. */
	lease(app: string, holder: string, nowAt: number, untilAt: number): Promise<boolean>;
	release(app: string, holder: string): Promise<void>;
	setTrouble(app: string, trouble: AppTrouble): Promise<void>;
	addGivenUp(app: string, count: number): Promise<void>;

	/** Answers how many sockets the app has, this one included. */
	socketOpened(
		socket: { readonly id: string; readonly app: string; readonly gateway: string },
		nowAt: number,
		untilAt: number,
	): Promise<number>;
	socketClosed(id: string): Promise<void>;
	/** The sockets of this gateway are open until then. */
	keepSockets(gateway: string, untilAt: number): Promise<void>;
	/** Of a gateway that starts: no socket is its own. */
	forgetSockets(gateway: string, beforeAt: number): Promise<void>;
	socketsOf(app: string, nowAt: number): Promise<number>;
	/** Gateways that have a socket of the app. */
	gatewaysOf(app: string, nowAt: number): Promise<readonly string[]>;

	addWebhook(webhook: Webhook): Promise<void>;
	webhook(id: string): Promise<Webhook | null>;
	webhooksOf(app: string): Promise<readonly Webhook[]>;
	removeWebhook(id: string): Promise<void>;

	/** Counts a use of something that may be used a few times; answers the uses so far, this one included. */
	use(id: string, team: string, untilAt: number): Promise<number>;

	saveView(view: AppView): Promise<void>;
	view(id: string): Promise<AppView | null>;
	removeViews(ids: readonly string[]): Promise<void>;
	/** Uses and modals from before these moments are forgotten. */
	tidy(nowAt: number, modalsBeforeTs: number): Promise<void>;
}
