import type { Conversation } from '../../../model/conversation.ts';
import { isDirect } from '../../../model/ids.ts';
import { type JsonObject, wireUser } from '../../../protocol/objects.ts';
import { conversationObject } from '../conversation-objects.ts';
import { costOfRows, type UserCall, userMethod, wallMicros } from '../method.ts';
import { webUrl } from '../origin.ts';
import { slackbotDirect } from '../slackbot-direct.ts';
import { userOf } from './users.ts';
import { prefsOf } from './users-prefs.ts';

/** What Slack's own clients, and clients modelled on them (wee-slack, slackdump), load when they start. */

/** Clients page through the rest with users.conversations. */
const MAX_CONVERSATIONS = 1000;

export const clientUserBoot = userMethod({
	arguments: {},
	ignored: ['include_min_version_bump_check', 'version_ts', 'build_version_ts'],
	cost: () => costOfRows(MAX_CONVERSATIONS),
	run: async (_args, call) => {
		const { services, caller, request } = call;
		const query = {
			team: caller.team,
			user: caller.user.id,
			memberOnly: true,
			kinds: ['public', 'private', 'mpim', 'im'],
			excludeArchived: true,
		} as const;
		const { items, next } = await services.directory.conversationsOf(query, null, MAX_CONVERSATIONS);
		const objectOf = (conversation: Conversation) => conversationObject(call, conversation);
		const prefs = await prefsOf(call);
		return {
			self: { ...(await selfOf(call)), prefs },
			team: await teamOf(call, webUrl(request)),
			channels: await Promise.all(items.filter(({ kind }) => kind !== 'im').map(objectOf)),
			ims: await Promise.all(
				[await slackbotDirect(call), ...items.filter(({ kind }) => kind === 'im')].map(objectOf),
			),
			is_open: items.filter(({ kind }) => isDirect(kind)).map(({ id }) => id),
			has_more: next !== null,
			prefs,
			subteams: { self: [] },
			starred: [],
			dnd: {},
		};
	},
});

const selfOf = async (call: UserCall): Promise<JsonObject> =>
	wireUser(await userOf(call, call.caller.user.id), wallMicros());

async function teamOf({ services, caller }: UserCall, url: string): Promise<JsonObject> {
	const team = await services.directory.team(caller.team);
	return { id: caller.team, name: team?.name ?? '', domain: team?.domain ?? '', url };
}
