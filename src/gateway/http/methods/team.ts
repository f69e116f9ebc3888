import { Rejection } from '../../../model/errors.ts';
import { isUserId } from '../../../model/ids.ts';
import { botIdOf } from '../../../protocol/objects.ts';
import * as type from '../argument-types.ts';
import { optional } from '../arguments.ts';
import { userMethod } from '../method.ts';
import { webUrl } from '../origin.ts';

/** What applications load about the workspace when they start. */

export const teamInfo = userMethod({
	arguments: { team: optional(type.team) },
	ignored: ['domain'],
	run: async (args, { services, caller, request }) => {
		const team = await services.directory.team(caller.team);
		if (!team || (args.team ?? team.id) !== team.id)
			throw new Rejection('team_not_found', 'team: no such workspace');
		const { id, name, domain } = team;
		return {
			team: { id, name, domain, email_domain: '', icon: { image_default: true }, url: webUrl(request) },
		};
	},
});

/** The id of a bot is its user's id with another first letter. */
export const botsInfo = userMethod({
	arguments: { bot: optional(type.text({ max: 40, takesEmpty: false })) },
	run: async ({ bot }, { services, caller }) => {
		const none = new Rejection('bot_not_found', 'bot: no such bot');
		const id = bot === undefined ? caller.user.id : `U${bot.slice(1)}`;
		const isId = bot === undefined || (bot.startsWith('B') && isUserId(id));
		const [user] = isId ? await services.directory.users([id]) : [];
		if (!user?.isBot || user.team !== caller.team) throw none;
		return {
			bot: {
				id: botIdOf(user),
				user_id: user.id,
				name: user.realName,
				deleted: user.deleted,
				updated: Math.floor(user.updatedTs / 1e6),
				app_id: '',
				icons: { image_36: '', image_48: '', image_72: '' },
			},
		};
	},
});

/** Tidemark has no custom emoji. */
export const emojiList = userMethod({
	arguments: {},
	ignored: ['include_categories'],
	run: async (_args, { services }) => ({
		emoji: {},
		cache_ts: String(Math.floor(services.clock.last() / 1e6)),
	}),
});

/** Tidemark has no user groups. */
export const usergroupsList = userMethod({
	arguments: {},
	ignored: ['include_count', 'include_disabled', 'include_users'],
	run: async () => ({ usergroups: [] }),
});
