import type { RepairOutcome } from '../../../durability/repairer.ts';
import type { Drifted, VerifiedPage } from '../../../durability/verifier.ts';
import { Rejection } from '../../../model/errors.ts';
import { formatTs } from '../../../model/ts.ts';
import type { Services } from '../../services.ts';
import * as type from '../argument-types.ts';
import { optional } from '../arguments.ts';
import { adminMethod } from '../method.ts';
import { nextCursor } from '../paging.ts';

const SAMPLE = 100;

/** Recomputes counts from the store and compares them with the served ones; repairs differences if requested. */
export const adminUnreadsVerify = adminMethod({
	arguments: {
		user: optional(type.user),
		channel: optional(type.channel),
		sample: type.limit(SAMPLE),
		cursor: type.cursor('after'),
		repair: type.flag,
	},
	run: async ({ user, channel, sample, cursor, repair }, { services }) => {
		const { checked, drifted, total, next } = await verifyPage(services, user, channel, sample, cursor);
		const answer = { checked, total, ...nextCursor('after', next) };
		if (!repair) return { ...answer, drifted: drifted.map(wireDrift) };
		const outcomes = await services.repairer.repair(drifted);
		return {
			...answer,
			drifted: drifted.map((one, index) => ({ ...wireDrift(one), ...wireRepair(outcomes[index]) })),
			repaired: outcomes.filter((outcome) => outcome === 'repaired').length,
		};
	},
});

/** Pages over everything of a user, over one channel of a user, or over the members of a channel. */
async function verifyPage(
	{
		directory,
		persistedDirectory,
		verifier,
	}: Pick<Services, 'directory' | 'persistedDirectory' | 'verifier'>,
	user: string | undefined,
	channel: string | undefined,
	limit: number,
	cursor: string | undefined,
): Promise<VerifiedPage> {
	if (user !== undefined && (await directory.users([user])).length === 0)
		throw new Rejection('user_not_found', 'user: no such user');
	if (channel === undefined) {
		if (user === undefined)
			throw new Rejection('missing_argument', 'user or channel: one of them is required');
		return verifier.verifyUser(user, cursor ?? '', limit);
	}
	// The verifier tolerates a store that lags behind: wait (through `directory`) only if the store does not have the conversation yet.
	const [stored] = await persistedDirectory.conversations([channel]);
	const [conversation] = stored ? [stored] : await directory.conversations([channel]);
	if (!conversation) throw new Rejection('channel_not_found', 'channel: no such conversation');
	if (user !== undefined) return { ...(await verifier.verify([user], channel)), next: null };
	const members = await persistedDirectory.members(channel, cursor ?? null, limit);
	const found = await verifier.verify(members.items, channel);
	return { ...found, total: conversation.memberCount, next: members.next };
}

const wireDrift = ({ user, conversation, threadTs, served, stored }: Drifted) => ({
	user,
	channel: conversation,
	...(threadTs === null ? {} : { thread_ts: formatTs(threadTs) }),
	served: wireCounts(served),
	stored: wireCounts(stored),
});

const wireCounts = ({ unread, mentions, badge }: Drifted['served']) => ({
	unread_count: unread,
	mention_count: mentions,
	badge_count: badge,
});

const wireRepair = (outcome: RepairOutcome = 'not_tried') =>
	outcome === 'repaired' ? { repaired: true } : { repaired: false, reason: outcome };
