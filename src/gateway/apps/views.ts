import { blocksIn } from '../../apps/blocks.ts';
import type { App, AppView, ViewKind } from '../../engine/ports/apps.ts';
import { Rejection } from '../../model/errors.ts';
import { newId } from '../../model/ids.ts';
import { botIdOf, isJsonObject, type Json, type JsonObject } from '../../protocol/objects.ts';
import type { UserCall } from '../http/method.ts';
import type { Services } from '../services.ts';

/**
 * Modals and home tabs that apps show to users. A modal is stored until it is closed or has not changed for a day, a
 * home tab until its app is removed.
 */

const MAX_BELOW = 2;
const MAX_BLOCKS = 100;
const HASH_BYTES = 6;

function checkedView(view: Json | undefined, kind: ViewKind): JsonObject {
	if (!isJsonObject(view)) throw new Rejection('invalid_view', 'view: must be an object');
	if (view.type !== kind) throw new Rejection('invalid_view', `view: its type must be ${kind}`);
	const blocks = blocksIn(view);
	if (!Array.isArray(view.blocks) || blocks.length !== view.blocks.length || blocks.length > MAX_BLOCKS)
		throw new Rejection('invalid_view', `view: blocks must be a list of up to ${MAX_BLOCKS} blocks`);
	if (kind === 'modal' && !isJsonObject(view.title))
		throw new Rejection('invalid_view', 'view: a modal needs a title');
	return view;
}

type Storing = Pick<Services, 'apps' | 'clock' | 'random'>;

/** Stores a view of an app, if it is valid: a new version if `to.id` is given, else a new view. */
export async function storeView(
	{ apps, clock, random }: Storing,
	app: Pick<App, 'id' | 'team'>,
	view: Json | undefined,
	to: {
		readonly user: string;
		readonly id?: string;
		readonly kind: ViewKind;
		readonly below?: readonly string[];
	},
): Promise<AppView> {
	const body = JSON.stringify(checkedView(view, to.kind));
	const at = clock.next();
	const stored: AppView = {
		id: to.id ?? newId('V', random),
		app: app.id,
		team: app.team,
		user: to.user,
		kind: to.kind,
		hash: `${Math.floor(at / 1e6)}.${Buffer.from(random(HASH_BYTES)).toString('base64url')}`,
		body,
		below: to.below ?? [],
		updatedTs: at,
	};
	await apps.saveView(stored);
	return stored;
}

export function stackedOn(view: AppView): readonly string[] {
	if (view.below.length >= MAX_BELOW) throw new Rejection('push_limit_reached');
	return [...view.below, view.id];
}

/** Each user has one home tab per app. */
export const homeId = (app: string, user: string): string => `VH${app.slice(1)}${user.slice(1)}`;

/** Finds a view that this user has open. */
export async function viewOfUser({ services, caller }: UserCall, id: string): Promise<AppView> {
	const view = await services.apps.view(id);
	if (view?.user !== caller.user.id)
		throw new Rejection('view_not_found', 'view_id: this user has no such view');
	return view;
}

/** Slack's view object. */
export function wireView(
	view: AppView,
	app: Pick<App, 'id' | 'team' | 'botUser'>,
	state?: JsonObject,
): JsonObject {
	const body = JSON.parse(view.body) as JsonObject;
	return {
		private_metadata: '',
		callback_id: '',
		external_id: '',
		clear_on_close: false,
		notify_on_close: false,
		submit: null,
		close: null,
		...body,
		id: view.id,
		team_id: view.team,
		app_id: app.id,
		app_installed_team_id: app.team,
		bot_id: botIdOf({ id: app.botUser }),
		hash: view.hash,
		state: state ?? { values: {} },
		root_view_id: view.below[0] ?? view.id,
		previous_view_id: view.below.at(-1) ?? null,
	};
}

export type ViewChange = 'view_opened' | 'view_updated' | 'view_pushed' | 'view_closed';

/** Publishes the change to the user's clients. */
export function publishViewChange(
	{ bus }: Pick<Services, 'bus'>,
	user: string,
	type: ViewChange,
	view: JsonObject,
): void {
	bus.publish(`user:${user}`, { type: 'event', frame: JSON.stringify({ type, view }) });
}
