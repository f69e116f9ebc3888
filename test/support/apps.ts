import { type Call, client } from './api.ts';
import { ADMIN_TOKEN } from './server.ts';

/** A workspace with an app: Ada and the app's bot in one channel, Grace not in it. */

export interface AppStage {
	readonly team: string;
	readonly app: string;
	readonly bot: string;
	readonly botToken: string;
	readonly appToken: string;
	readonly signingSecret: string;
	readonly channel: string;
	readonly adaId: string;
	readonly ada: Call;
	readonly adaToken: string;
	readonly graceId: string;
	readonly grace: Call;
	readonly graceToken: string;
	readonly admin: Call;
}

export interface ManifestOptions {
	readonly events?: readonly string[];
	readonly socketMode?: boolean;
	readonly requestUrl?: string;
	readonly interactivityUrl?: string;
	readonly commands?: readonly {
		readonly command: string;
		readonly url?: string;
		readonly should_escape?: boolean;
	}[];
}

/** A manifest as Slack's own tools write it. */
export const manifestOf = (options: ManifestOptions = {}) => ({
	display_information: { name: 'Harbour', description: 'Tells the tide' },
	features: {
		bot_user: { display_name: 'harbour', always_online: false },
		app_home: { home_tab_enabled: true },
		slash_commands: (options.commands ?? []).map((command) => ({
			description: 'Says the tide',
			usage_hint: '[place]',
			...command,
		})),
		shortcuts: [
			{ name: 'New tide', type: 'global', callback_id: 'new_tide', description: 'Anywhere' },
			{ name: 'Quote', type: 'message', callback_id: 'quote', description: 'On a message' },
		],
	},
	oauth_config: { scopes: { bot: ['chat:write', 'channels:history', 'commands'] } },
	settings: {
		event_subscriptions: {
			...(options.requestUrl ? { request_url: options.requestUrl } : {}),
			bot_events: options.events ?? [],
		},
		interactivity: {
			is_enabled: true,
			...(options.interactivityUrl ? { request_url: options.interactivityUrl } : {}),
		},
		socket_mode_enabled: options.socketMode ?? true,
	},
});

export async function appStage(url: string, manifest: object | string): Promise<AppStage> {
	const admin = client(url, ADMIN_TOKEN);
	const { team } = await admin('admin.teams.create', { name: 'Apps' });
	const person = async (name: string) => {
		const { user } = await admin('admin.users.create', { team_id: team.id, name });
		const { token } = await admin('admin.tokens.create', { user_id: user.id });
		return { id: user.id as string, token: token as string, call: client(url, token) };
	};
	const ada = await person('ada');
	const grace = await person('grace');
	const { app, credentials } = await admin('admin.apps.create', { team_id: team.id, manifest });
	const { channel } = await ada.call('conversations.create', { name: 'quay' });
	await ada.call('conversations.invite', { channel: channel.id, users: app.bot.user_id });
	return {
		team: team.id,
		app: app.id,
		bot: app.bot.user_id,
		botToken: credentials.bot_token,
		appToken: credentials.app_token,
		signingSecret: credentials.signing_secret,
		channel: channel.id,
		adaId: ada.id,
		ada: ada.call,
		adaToken: ada.token,
		graceId: grace.id,
		grace: grace.call,
		graceToken: grace.token,
		admin,
	};
}
