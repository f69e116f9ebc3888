import type { App } from '../../engine/ports/apps.ts';
import type { Conversation } from '../../model/conversation.ts';
import { Rejection } from '../../model/errors.ts';
import type { JsonObject } from '../../protocol/objects.ts';
import type { UserCall } from '../http/method.ts';
import { issuePass } from './passes.ts';

/**
 * The fields that every interaction carries, in Slack's shape: user, workspace, app, trigger. `view`: the view on
 * which the trigger may push another one.
 */

export async function interactionFields(
	{ services, caller }: UserCall,
	app: App,
	view?: string,
): Promise<JsonObject> {
	const team = await services.directory.team(caller.team);
	const { id, name } = caller.user;
	return {
		user: { id, username: name, name, team_id: caller.team },
		team: { id: caller.team, domain: team?.domain ?? '' },
		enterprise: null,
		is_enterprise_install: false,
		api_app_id: app.id,
		token: '',
		trigger_id: await triggerFor({ services, caller }, app, view),
	};
}

export const triggerFor = (
	{ services, caller }: Pick<UserCall, 'services' | 'caller'>,
	app: App,
	view?: string,
): Promise<string> =>
	issuePass(services, 'trigger', {
		team: caller.team,
		app: app.id,
		user: caller.user.id,
		...(view === undefined ? {} : { view }),
	});

const SLACK_NAME_OF_KIND = { im: 'directmessage', mpim: 'mpdm', private: 'privategroup' } as const;

export const channelNameOf = ({ kind, name }: Conversation): string =>
	kind === 'public' ? name : SLACK_NAME_OF_KIND[kind];

/** Finds an app of the caller's workspace. */
export async function appOfTeam({ services, caller }: UserCall, id: string): Promise<App> {
	const app = await services.apps.app(id);
	if (app?.team !== caller.team)
		throw new Rejection('app_not_found', 'app_id: this workspace has no such app');
	return app;
}

/** The app to which the calling bot belongs. */
export async function appOfCaller({ services, caller }: UserCall): Promise<App> {
	const app = await services.apps.appOfBot(caller.user.id);
	if (!app) throw new Rejection('not_an_app', 'token: call this method with the bot token of an app');
	return app;
}
