import { eventId } from '../../../apps/app-events.ts';
import { blocksIn, stateOf } from '../../../apps/blocks.ts';
import { eventCallback } from '../../../apps/payloads.ts';
import type { App, AppView } from '../../../engine/ports/apps.ts';
import { settingsOf } from '../../../model/app-manifest.ts';
import { Rejection } from '../../../model/errors.ts';
import { formatTs } from '../../../model/ts.ts';
import { isJsonObject, type JsonObject } from '../../../protocol/objects.ts';
import { appOfCaller, appOfTeam, interactionFields } from '../../apps/interaction.ts';
import { redeemTrigger } from '../../apps/passes.ts';
import { homeId, publishViewChange, stackedOn, storeView, viewOfUser, wireView } from '../../apps/views.ts';
import { usersOf } from '../access.ts';
import * as type from '../argument-types.ts';
import { type Argument, optional, required, withDefault } from '../arguments.ts';
import { type UserCall, userMethod } from '../method.ts';
import { appId } from './admin-apps.ts';
import { openWith } from './conversations-open.ts';

/** Modals and home tabs: apps open them, users submit and close them. */

const view = required<JsonObject>({
	expects: 'a view, as JSON',
	bad: 'invalid_view',
	parse: (value, name) => type.object('invalid_view').parse(value, name),
});
const triggerId = type.text({ max: 2_000, takesEmpty: false });
const viewId = type.text({ max: 60, takesEmpty: false });
const hash = optional(type.text({ max: 60, takesEmpty: false }));
const NONE: JsonObject = {};
const state: Argument<JsonObject> = withDefault(
	type.object('invalid_arguments') as Argument<JsonObject>,
	NONE,
);

export const viewsOpen = userMethod({
	arguments: { trigger_id: triggerId, view },
	ignored: ['interactivity_pointer'],
	run: async (args, call) => {
		const { services } = call;
		const app = await appOfCaller(call);
		const { user } = await redeemTrigger(services, app.id, args.trigger_id);
		const opened = await storeView(services, app, args.view, { user, kind: 'modal' });
		return publishAndReturn(call, app, opened, 'view_opened');
	},
});

export const viewsPush = userMethod({
	arguments: { trigger_id: triggerId, view, view_id: optional(viewId) },
	ignored: ['interactivity_pointer'],
	run: async (args, call) => {
		const { services } = call;
		const app = await appOfCaller(call);
		const { user, view: top } = await redeemTrigger(services, app.id, args.trigger_id);
		const below = await ownView(call, app, args.view_id ?? top ?? '');
		// Closing a view may also close the views below it, so they must belong to the same user.
		if (below.user !== user || below.kind !== 'modal')
			throw new Rejection('view_not_found', 'view_id: the user of the trigger has no such modal open');
		const pushed = await storeView(services, app, args.view, {
			user,
			kind: 'modal',
			below: stackedOn(below),
		});
		return publishAndReturn(call, app, pushed, 'view_pushed');
	},
});

export const viewsUpdate = userMethod({
	arguments: { view, view_id: viewId, hash },
	ignored: ['external_id'],
	run: async (args, call) => {
		const app = await appOfCaller(call);
		const current = await ownView(call, app, args.view_id);
		if (args.hash !== undefined && args.hash !== current.hash) throw new Rejection('hash_conflict');
		const { id, user, kind, below } = current;
		const updated = await storeView(call.services, app, args.view, { id, user, kind, below });
		return publishAndReturn(call, app, updated, 'view_updated');
	},
});

export const viewsPublish = userMethod({
	arguments: { user_id: type.user, view, hash },
	run: async (args, call) => {
		const app = await appOfCaller(call);
		await usersOf(call.services, call.caller.team, [args.user_id], 'user_id');
		const id = homeId(app.id, args.user_id);
		const current = await call.services.apps.view(id);
		if (args.hash !== undefined && current && args.hash !== current.hash)
			throw new Rejection('hash_conflict');
		const published = await storeView(call.services, app, args.view, {
			id,
			user: args.user_id,
			kind: 'home',
		});
		return publishAndReturn(call, app, published, 'view_updated');
	},
});

async function ownView({ services }: UserCall, app: App, id: string): Promise<AppView> {
	const found = await services.apps.view(id);
	if (found?.app !== app.id) throw new Rejection('view_not_found', 'view_id: the app has no such view');
	return found;
}

function publishAndReturn(
	{ services }: UserCall,
	app: App,
	stored: AppView,
	change: 'view_opened' | 'view_updated' | 'view_pushed',
) {
	const wire = wireView(stored, app);
	publishViewChange(services, stored.user, change, wire);
	return { view: wire };
}

/** Returns a view that the caller has open. */
export const viewsGet = userMethod({
	arguments: { view_id: viewId },
	run: async (args, call) => {
		const found = await viewOfUser(call, args.view_id);
		return { view: wireView(found, await appOfTeam(call, found.app)) };
	},
});

async function modalOfUser(call: UserCall, id: string): Promise<AppView> {
	const view = await viewOfUser(call, id);
	if (view.kind !== 'modal') throw new Rejection('view_not_found', 'view_id: this view is not a modal');
	return view;
}

/** Submits a modal; the app's answer decides what happens to it. */
export const viewsSubmit = userMethod({
	limited: 'posts',
	arguments: { view_id: viewId, state },
	ignored: ['client_token'],
	run: async (args, call) => {
		const { services } = call;
		const current = await modalOfUser(call, args.view_id);
		const app = await appOfTeam(call, current.app);
		const values = isJsonObject(args.state.values) ? args.state.values : NONE;
		const entered = stateOf(blocksIn(JSON.parse(current.body)), values);
		const answer = await services.appRequests.ask(app, 'interactive', {
			type: 'view_submission',
			...(await interactionFields(call, app, current.id)),
			view: wireView(current, app, entered),
			response_urls: [],
		});
		return applyAnswer(call, app, current, answer ?? NONE);
	},
});

async function applyAnswer(call: UserCall, app: App, current: AppView, answer: JsonObject) {
	const { services, caller } = call;
	const { id, below } = current;
	switch (answer.response_action) {
		case 'errors':
			return { response_action: 'errors', errors: answer.errors ?? {} };
		case 'update': {
			const to = { id, user: caller.user.id, kind: 'modal', below } as const;
			const updated = await storeView(services, app, answer.view, to);
			return { response_action: 'update', ...publishAndReturn(call, app, updated, 'view_updated') };
		}
		case 'push': {
			const to = { user: caller.user.id, kind: 'modal', below: stackedOn(current) } as const;
			const pushed = await storeView(services, app, answer.view, to);
			return { response_action: 'push', ...publishAndReturn(call, app, pushed, 'view_pushed') };
		}
		case 'clear':
			await close(call, app, current, [...below, id]);
			return { response_action: 'clear' };
		default:
			await close(call, app, current, [id]);
			return below.length > 0 ? { previous_view_id: below.at(-1) ?? '' } : {};
	}
}

async function close(
	{ services }: UserCall,
	app: App,
	current: AppView,
	ids: readonly string[],
): Promise<void> {
	await services.apps.removeViews(ids);
	for (const id of ids.toReversed())
		publishViewChange(services, current.user, 'view_closed', { id, app_id: app.id });
}

export const viewsClose = userMethod({
	arguments: { view_id: viewId, is_cleared: type.flag },
	run: async (args, call) => {
		const current = await modalOfUser(call, args.view_id);
		const app = await appOfTeam(call, current.app);
		const wire = wireView(current, app);
		await close(call, app, current, args.is_cleared ? [...current.below, current.id] : [current.id]);
		if (wire.notify_on_close !== true) return {};
		const payload = {
			type: 'view_closed',
			...(await interactionFields(call, app)),
			view: wire,
			is_cleared: args.is_cleared,
		};
		// The modal is closed even if the app does not answer.
		await call.services.appRequests.ask(app, 'interactive', payload).catch(ignoreRejection);
		return {};
	},
});

const ignoreRejection = (error: unknown): void => {
	if (!(error instanceof Rejection)) throw error;
};

/** Called when the caller opens the home tab of an app; sends `app_home_opened` to the app. */
export const appsHomeOpen = userMethod({
	arguments: { app_id: appId },
	run: async (args, call) => {
		const { services, caller } = call;
		const app = await appOfTeam(call, args.app_id);
		const settings = settingsOf(JSON.parse(app.manifest));
		const user = caller.user.id;
		const current = await services.apps.view(homeId(app.id, user));
		if (settings.botEvents.includes('app_home_opened')) {
			const bots = await usersOf(services, caller.team, [app.botUser], 'app_id');
			const { id: channel } = await openWith(call, bots);
			const at = services.clock.next();
			const event = {
				type: 'app_home_opened',
				user,
				channel,
				tab: 'home',
				...(current ? { view: wireView(current, app) } : {}),
				event_ts: formatTs(at),
			};
			const delivery = { id: eventId(app.id, 'home', user, at), stream: channel, at, event };
			const payload = eventCallback(app, delivery);
			await services.appRequests.ask(app, 'events_api', payload, settings.requestUrl).catch(ignoreRejection);
		}
		const view = await services.apps.view(homeId(app.id, user));
		return { view: view ? wireView(view, app) : null };
	},
});
