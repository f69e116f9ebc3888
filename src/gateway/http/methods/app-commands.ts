import type { App } from '../../../engine/ports/apps.ts';
import { type SlashCommand, settingsOf } from '../../../model/app-manifest.ts';
import { Rejection } from '../../../model/errors.ts';
import { byIdAndName } from '../../../model/link-names.ts';
import { formatTs } from '../../../model/ts.ts';
import { wireMessage } from '../../../protocol/objects.ts';
import { parseAppMessage, respond } from '../../apps/app-messages.ts';
import { responseUrl } from '../../apps/hooks.ts';
import { appOfTeam, channelNameOf, interactionFields, triggerFor } from '../../apps/interaction.ts';
import { issuePass } from '../../apps/passes.ts';
import { joinedConversation, readableConversation } from '../access.ts';
import * as type from '../argument-types.ts';
import { optional, withDefault } from '../arguments.ts';
import { hasContent } from '../message-content.ts';
import { type UserCall, userMethod } from '../method.ts';
import { appId } from './admin-apps.ts';
import { linkedText } from './chat.ts';

/** Slash commands and shortcuts, run by a user's client. */

const MAX_APPS = 1_000;
const MAX_COMMAND_TEXT = 4_000;

const appsOf = async ({ services, caller }: UserCall): Promise<readonly App[]> =>
	(await services.apps.appsOf(caller.team, null, MAX_APPS)).items;

/** Lists the commands, shortcuts and homes of the workspace's apps. */
export const commandsList = userMethod({
	arguments: {},
	run: async (_args, call) => {
		const apps = (await appsOf(call)).map((app) => ({ app, settings: settingsOf(JSON.parse(app.manifest)) }));
		return {
			commands: apps.flatMap(({ app, settings }) =>
				settings.commands.map(({ command, description, usageHint }) => ({
					name: command,
					desc: description,
					usage: usageHint,
					app_id: app.id,
					app_name: settings.name,
				})),
			),
			shortcuts: apps.flatMap(({ app, settings }) =>
				settings.shortcuts.map(({ name, type: kind, callbackId, description }) => ({
					name,
					type: kind,
					callback_id: callbackId,
					desc: description,
					app_id: app.id,
					app_name: settings.name,
				})),
			),
			homes: apps
				.filter(({ settings }) => settings.homeTab)
				.map(({ app, settings }) => ({ app_id: app.id, app_name: settings.name, bot_user_id: app.botUser })),
		};
	},
});

/** If several apps declare the same command, the first app in the list gets it. */
async function findCommand(call: UserCall, name: string): Promise<{ app: App; command: SlashCommand }> {
	for (const app of await appsOf(call)) {
		const command = settingsOf(JSON.parse(app.manifest)).commands.find((one) => one.command === name);
		if (command) return { app, command };
	}
	throw new Rejection('command_not_found', `command: no app of this workspace has ${name}`);
}

export const chatCommand = userMethod({
	limited: 'posts',
	arguments: {
		channel: type.channel,
		command: type.text({ max: 32, takesEmpty: false }),
		text: withDefault(type.text({ max: MAX_COMMAND_TEXT }), ''),
		thread_ts: optional(type.ts('thread_not_found')),
	},
	ignored: ['disp', 'client_token'],
	run: async (args, call) => {
		const { services, caller } = call;
		const conversation = await joinedConversation(call, args.channel);
		const { app, command } = await findCommand(call, args.command);
		const team = await services.directory.team(caller.team);
		const pass = {
			team: caller.team,
			app: app.id,
			user: caller.user.id,
			channel: args.channel,
			...(args.thread_ts === undefined ? {} : { threadTs: formatTs(args.thread_ts) }),
		};
		const payload = {
			token: '',
			team_id: caller.team,
			team_domain: team?.domain ?? '',
			channel_id: args.channel,
			channel_name: channelNameOf(conversation),
			user_id: caller.user.id,
			user_name: caller.user.name,
			command: args.command,
			text: command.shouldEscape ? await linkedText(call, args.text, byIdAndName) : args.text,
			api_app_id: app.id,
			is_enterprise_install: 'false',
			response_url: responseUrl(await issuePass(services, 'response', pass)),
			trigger_id: await triggerFor(call, app),
		};
		const answer = await services.appRequests.ask(app, 'slash_commands', payload, command.url);
		const message = answer && parseAppMessage(answer);
		if (message && hasContent(message)) await respond(services, app, pass, message);
		return { app_id: app.id };
	},
});

export const shortcutsRun = userMethod({
	limited: 'posts',
	arguments: {
		app_id: appId,
		callback_id: type.text({ max: 255, takesEmpty: false }),
		channel: optional(type.channel),
		message_ts: optional(type.ts('message_not_found')),
	},
	run: async (args, call) => {
		const { services, caller } = call;
		const app = await appOfTeam(call, args.app_id);
		const shortcut = settingsOf(JSON.parse(app.manifest)).shortcuts.find(
			({ callbackId }) => callbackId === args.callback_id,
		);
		if (!shortcut) throw new Rejection('shortcut_not_found', 'callback_id: the app has no such shortcut');
		const shared = {
			...(await interactionFields(call, app)),
			callback_id: shortcut.callbackId,
			action_ts: formatTs(services.clock.next()),
		};
		if (shortcut.type === 'global') {
			await services.appRequests.ask(app, 'interactive', { type: 'shortcut', ...shared });
			return {};
		}
		if (args.channel === undefined || args.message_ts === undefined)
			throw new Rejection('missing_argument', 'channel, message_ts: a message shortcut needs both');
		const conversation = await readableConversation(call, args.channel);
		const [message] = await services.history.messages(args.channel, [args.message_ts]);
		if (!message || message.deleted) throw new Rejection('message_not_found', 'message_ts: no such message');
		const pass = {
			team: caller.team,
			app: app.id,
			user: caller.user.id,
			channel: args.channel,
			ts: formatTs(message.ts),
		};
		await services.appRequests.ask(app, 'interactive', {
			type: 'message_action',
			...shared,
			message_ts: formatTs(message.ts),
			channel: { id: args.channel, name: channelNameOf(conversation) },
			message: wireMessage(message, caller.team),
			response_url: responseUrl(await issuePass(services, 'response', pass)),
		});
		return {};
	},
});
