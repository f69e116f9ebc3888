import { createHmac } from 'node:crypto';
import type { App } from '../engine/ports/apps.ts';
import type { JsonObject } from '../protocol/objects.ts';
import type { AppEvent } from './app-events.ts';

/** Slack's envelope around an event, and the signature of requests to apps. Pure. */

export function eventCallback(app: App, { id, at, event, stream }: AppEvent): JsonObject {
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
		event_context: `${app.id}-${stream}`,
	};
}

/** Slack's request signature: an HMAC over the time and the body with the app's signing secret. */
export function signatureHeaders(secret: string, body: string, nowSeconds: number): Record<string, string> {
	const digest = createHmac('sha256', secret).update(`v0:${nowSeconds}:${body}`).digest('hex');
	return { 'x-slack-request-timestamp': String(nowSeconds), 'x-slack-signature': `v0=${digest}` };
}
