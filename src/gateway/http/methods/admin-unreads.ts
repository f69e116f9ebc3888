import type { RepairOutcome } from '../../../durability/repairer.ts';
import type { Drifted } from '../../../durability/verifier.ts';
import { Refusal } from '../../../model/errors.ts';
import { formatTs } from '../../../model/ts.ts';
import type { Services } from '../../services.ts';
import * as type from '../argument-types.ts';
import { optional } from '../arguments.ts';
import { adminMethod } from '../method.ts';

const SAMPLE = 100;

/** Counts everything once more from the store and compares it with what is served; repairs what differs, where asked to. */
export const adminUnreadsVerify = adminMethod({
	arguments: {
		user: optional(type.user),
		channel: optional(type.channel),
		sample: type.limit(SAMPLE),
		repair: type.flag,
	},
	run: async ({ user, channel, sample, repair }, { services }) => {
		const users = await usersOf(services, user, channel, sample);
		const { checked, drifted } = await services.verifier.verify(users, channel, sample);
		if (!repair) return { checked, drifted: drifted.map(shown) };
		const outcomes = await services.repairer.repair(drifted);
		return {
			checked,
			drifted: drifted.map((one, index) => ({ ...shown(one), ...repairShown(outcomes[index]) })),
			repaired: outcomes.filter((outcome) => outcome === 'repaired').length,
		};
	},
});

/** The user, or of a channel alone its members, up to so many. */
async function usersOf(
	{ directory }: Pick<Services, 'directory'>,
	user: string | undefined,
	channel: string | undefined,
	most: number,
): Promise<readonly string[]> {
	if (user === undefined && channel === undefined)
		throw new Refusal('missing_argument', 'user, or channel, is required');
	if (user !== undefined && (await directory.users([user])).length === 0)
		throw new Refusal('user_not_found', 'user: no such user');
	if (channel === undefined) return user === undefined ? [] : [user];
	if ((await directory.conversations([channel])).length === 0)
		throw new Refusal('channel_not_found', 'channel: no such conversation');
	return user === undefined ? (await directory.members(channel, null, most)).items : [user];
}

const shown = ({ user, conversation, threadTs, served, stored }: Drifted) => ({
	user,
	channel: conversation,
	...(threadTs === null ? {} : { thread_ts: formatTs(threadTs) }),
	served: countsShown(served),
	stored: countsShown(stored),
});

const countsShown = ({ unread, mentions, badge }: Drifted['served']) => ({
	unread_count: unread,
	mention_count: mentions,
	badge_count: badge,
});

const repairShown = (outcome: RepairOutcome = 'not_tried') =>
	outcome === 'repaired' ? { repaired: true } : { repaired: false, reason: outcome };
