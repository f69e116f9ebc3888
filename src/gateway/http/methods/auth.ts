import { botIdOf } from '../../../protocol/objects.ts';
import { userMethod } from '../method.ts';
import { webUrl } from '../origin.ts';

export const authTest = userMethod({
	arguments: {},
	run: async (_args, { services, caller, request }) => {
		const { user } = caller;
		const team = await services.directory.team(caller.team);
		return {
			url: webUrl(request),
			team: team?.name ?? '',
			user: user.name,
			team_id: caller.team,
			user_id: user.id,
			...(user.isBot ? { bot_id: botIdOf(user) } : {}),
			is_enterprise_install: false,
		};
	},
});
