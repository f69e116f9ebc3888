import type { AppToken } from '../../../engine/ports/apps.ts';
import { Rejection } from '../../../model/errors.ts';
import { newId } from '../../../model/ids.ts';
import { newWebhookSecret, webhookUrl } from '../../apps/hooks.ts';
import { ID_LENGTH, publicIdOf, tokenKey } from '../../auth/tokens.ts';
import * as type from '../argument-types.ts';
import { withDefault } from '../arguments.ts';
import { adminMethod } from '../method.ts';
import { webUrl } from '../origin.ts';
import { publishAppChange } from '../publish-changes.ts';
import { appId, appWithId, createAppToken, createBotToken } from './admin-apps.ts';

/** Tokens and incoming webhooks of apps. Each is shown only once, when it is created. */

export const adminAppsTokensCreate = adminMethod({
	arguments: {
		app_id: appId,
		kind: withDefault(type.oneOf(['app', 'bot']), 'app'),
		name: withDefault(type.text({ max: 80 }), ''),
	},
	run: async (args, call) => {
		const app = await appWithId(call, args.app_id);
		const token =
			args.kind === 'bot'
				? await createBotToken(call.services, app)
				: await createAppToken(call.services, app, args.name);
		return { token, app_id: app.id, kind: args.kind };
	},
});

export const adminAppsTokensList = adminMethod({
	arguments: { app_id: appId },
	run: async (args, call) => {
		const { id, botUser } = await appWithId(call, args.app_id);
		return { tokens: (await call.services.apps.tokensOf(id)).map(wireToken), bot_user_id: botUser };
	},
});

export const adminAppsTokensRevoke = adminMethod({
	arguments: { app_id: appId, token_id: type.text({ max: ID_LENGTH, takesEmpty: false }) },
	run: async (args, call) => {
		const { apps, clock } = call.services;
		const { id } = await appWithId(call, args.app_id);
		const token = (await apps.tokensOf(id)).find((one) => publicIdOf(one) === args.token_id);
		if (!token) throw new Rejection('token_not_found', 'token_id: the app has no such app-level token');
		await apps.revokeToken(token.hash, clock.next());
		publishAppChange(call.services, id);
		return { revoked: true };
	},
});

const wireToken = ({ hash, name, createdTs, revokedTs }: AppToken) => ({
	id: publicIdOf({ hash }),
	name,
	date_created: Math.floor(createdTs / 1e6),
	is_active: revokedTs === 0,
});

export const adminAppsWebhooksCreate = adminMethod({
	arguments: { app_id: appId, channel: type.channel },
	run: async (args, call) => {
		const { apps, directory, random, clock } = call.services;
		const app = await appWithId(call, args.app_id);
		const [conversation] = await directory.conversations([args.channel]);
		if (conversation?.team !== app.team)
			throw new Rejection('channel_not_found', 'channel: the app’s workspace has no such conversation');
		const id = newId('B', random);
		const secret = newWebhookSecret(random);
		const hash = tokenKey(secret);
		await apps.addWebhook({
			id,
			app: app.id,
			team: app.team,
			conversation: args.channel,
			hash,
			createdTs: clock.next(),
		});
		return {
			webhook: { id, channel: args.channel, url: webhookUrl(webUrl(call.request), app.team, id, secret) },
		};
	},
});

export const adminAppsWebhooksList = adminMethod({
	arguments: { app_id: appId },
	run: async (args, call) => {
		const { id } = await appWithId(call, args.app_id);
		const webhooks = await call.services.apps.webhooksOf(id);
		return {
			webhooks: webhooks.map(({ id, conversation, createdTs }) => ({
				id,
				channel: conversation,
				date_created: Math.floor(createdTs / 1e6),
			})),
		};
	},
});

export const adminAppsWebhooksDelete = adminMethod({
	arguments: { app_id: appId, webhook_id: type.text({ max: 40, takesEmpty: false }) },
	run: async (args, call) => {
		const { apps } = call.services;
		const { id } = await appWithId(call, args.app_id);
		const webhook = await apps.webhook(args.webhook_id);
		if (webhook?.app !== id)
			throw new Rejection('webhook_not_found', 'webhook_id: the app has no such webhook');
		await apps.removeWebhook(webhook.id);
		return {};
	},
});
