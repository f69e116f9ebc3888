import { botIdOf } from '../../../protocol/objects.ts';
import { revokeToken } from '../../auth/revocations.ts';
import * as type from '../argument-types.ts';
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

/** Signs out: revokes the caller's token and closes its sockets. */
export const authRevoke = userMethod({
	arguments: { test: type.flag },
	run: async ({ test }, { services, caller }) => {
		const { user, team, tokenKey } = caller;
		if (!test) await revokeToken(services, { hash: tokenKey, user: user.id, team });
		return { revoked: !test };
	},
});
