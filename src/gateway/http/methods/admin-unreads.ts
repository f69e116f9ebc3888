import { Refusal } from '../../../model/errors.ts';
import * as type from '../argument-types.ts';
import { optional } from '../arguments.ts';
import { adminMethod } from '../method.ts';

const SAMPLE = 100;

/** Counts everything once more from the store and compares it with what is served. */
export const adminUnreadsVerify = adminMethod({
	arguments: { user: type.user, channel: optional(type.channel), sample: type.limit(SAMPLE) },
	run: async ({ user, channel, sample }, { services }) => {
		const [known] = await services.directory.users([user]);
		if (!known) throw new Refusal('user_not_found', 'user: no such user');
		const { checked, drifted } = await services.verifier.verify(user, channel, sample);
		return {
			checked,
			drifted: drifted.map(({ conversation, served, stored }) => ({
				user,
				channel: conversation,
				served: { unread_count: served.unread, mention_count: served.mentions, badge_count: served.badge },
				stored: { unread_count: stored.unread, mention_count: stored.mentions, badge_count: stored.badge },
			})),
		};
	},
});
