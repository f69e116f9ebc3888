import type { App } from '../engine/ports/apps.ts';
import type { JsonObject } from '../protocol/objects.ts';
import type { AppEvent } from './app-events.ts';

/** What an app receives around an event or an interaction, in Slack's shapes. Pure. */

export function eventCallback(app: App, { id, at, event, conversation }: AppEvent): JsonObject {
	return {
		token: '',
		team_id: app.team,
		context_team_id: app.team,
		api_app_id: app.id,
		event,
		type: 'event_callback',
		event_id: id,
		event_time: Math.floor(at / 1e6),
		authorizations: [
			{
				enterprise_id: null,
				team_id: app.team,
				user_id: app.botUser,
				is_bot: true,
				is_enterprise_install: false,
			},
		],
		is_ext_shared_channel: false,
		event_context: `${app.id}-${conversation}`,
	};
}
