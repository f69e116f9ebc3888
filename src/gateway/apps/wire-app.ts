import { DELIVERED_EVENTS } from '../../apps/app-events.ts';
import type { App, Apps } from '../../engine/ports/apps.ts';
import { settingsOf } from '../../model/app-manifest.ts';
import { botIdOf, type JsonObject } from '../../protocol/objects.ts';

/** An app as administrators see it, without secrets. */
export async function wireApp(
	app: App,
	{ apps }: { readonly apps: Pick<Apps, 'socketsOf'> },
): Promise<JsonObject> {
	const settings = settingsOf(JSON.parse(app.manifest));
	return {
		id: app.id,
		team_id: app.team,
		name: settings.name,
		description: settings.description,
		bot: { user_id: app.botUser, bot_id: botIdOf({ id: app.botUser }) },
		scopes: settings.botScopes,
		bot_events: settings.botEvents,
		events_not_delivered: settings.botEvents.filter((name) => !DELIVERED_EVENTS.has(name)),
		socket_mode: settings.socketMode,
		connections: await apps.socketsOf(app.id, Date.now()),
		request_url: settings.requestUrl,
		interactivity_url: settings.interactivityUrl,
		commands: settings.commands.map(({ command, description, usageHint }) => ({
			command,
			description,
			usage_hint: usageHint,
		})),
		shortcuts: settings.shortcuts.map(({ name, type, callbackId }) => ({
			name,
			type,
			callback_id: callbackId,
		})),
		created: Math.floor(app.createdTs / 1e6),
		updated: Math.floor(app.updatedTs / 1e6),
		delivery: {
			is_paused: app.pausedAt > 0,
			...(app.pausedAt > 0 ? { paused_since: Math.floor(app.pausedAt / 1000) } : {}),
			...(app.failingSinceAt > 0 ? { failing_since: Math.floor(app.failingSinceAt / 1000) } : {}),
			...(app.lastError === '' ? {} : { last_error: app.lastError }),
			given_up: app.givenUp,
		},
	};
}
