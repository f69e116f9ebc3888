import type { Invite } from '../../../engine/ports/invites.ts';
import { Rejection } from '../../../model/errors.ts';
import { publicIdOf } from '../../auth/tokens.ts';
import * as type from '../argument-types.ts';
import { optional, required, withDefault } from '../arguments.ts';
import { adminMethod } from '../method.ts';
import { newInvite } from '../new-invite.ts';
import { nextCursor } from '../paging.ts';
import { userWithId } from './admin-accounts.ts';
import { teamWithId } from './admin-listings.ts';

/** Administration of invite links. A link is shown only once; afterwards an invite is identified by its id. */

const PAGE = 100;
const DAY_SECONDS = 86_400;
const MAX_SECONDS = 90 * DAY_SECONDS;
const LABEL_LENGTH = 80;
const INVITE_ID = /^[0-9a-f]{16}$/;

const expiresIn = withDefault(
	required<number>({
		expects: `seconds, a whole number from 1 to ${MAX_SECONDS}`,
		parse: (value) => {
			const seconds = type.count.parse(value, 'expires_in');
			return seconds !== undefined && seconds >= 1 && seconds <= MAX_SECONDS ? seconds : undefined;
		},
	}),
	7 * DAY_SECONDS,
);

const inviteId = required<string>({
	expects: 'the id of an invite',
	bad: 'invite_not_found',
	parse: (value) => (typeof value === 'string' && INVITE_ID.test(value) ? value : undefined),
});

export const adminInvitesCreate = adminMethod({
	arguments: {
		team_id: type.team,
		user_id: optional(type.user),
		expires_in: expiresIn,
		label: withDefault(type.text({ max: LABEL_LENGTH }), ''),
	},
	run: async (args, call) => {
		await teamWithId(call, args.team_id);
		if (args.user_id !== undefined) {
			const user = await userWithId(call, args.user_id);
			if (user.team !== args.team_id) throw new Rejection('user_not_found', 'user_id: no such user');
			if (user.deleted) throw new Rejection('user_disabled', 'user_id: the user is deactivated');
		}
		const { invite, url } = await newInvite(
			call,
			{ team: args.team_id, user: args.user_id ?? null, label: args.label.trim(), creator: null },
			args.expires_in,
		);
		return { invite: wireInvite(invite, invite.createdTs), url };
	},
});

export const adminInvitesList = adminMethod({
	arguments: { team_id: type.team, limit: type.limit(PAGE), cursor: type.cursor('after') },
	run: async (args, call) => {
		const { directory, clock } = call.services;
		await teamWithId(call, args.team_id);
		const page = await directory.invitesOf(args.team_id, args.cursor ?? null, args.limit);
		const now = Math.max(clock.last(), Date.now() * 1000);
		return {
			invites: page.items.map((invite) => wireInvite(invite, now)),
			...nextCursor('after', page.next),
		};
	},
});

export const adminInvitesRevoke = adminMethod({
	arguments: { invite_id: inviteId },
	run: async (args, { services }) => {
		const invite = await services.directory.inviteStarting(args.invite_id);
		if (!invite) throw new Rejection('invite_not_found', 'invite_id: no such invite');
		if (invite.usedTs !== null) throw new Rejection('invite_used', 'invite_id: this invite was already used');
		await services.directory.revokeInvite(invite.hash, services.clock.next());
		return { revoked: true };
	},
});

const seconds = (micros: number): number => Math.floor(micros / 1e6);

const wireInvite = (invite: Invite, now: number) => ({
	id: publicIdOf(invite),
	team_id: invite.team,
	...(invite.user === null ? {} : { user_id: invite.user }),
	label: invite.label,
	...(invite.creator === null ? {} : { created_by: invite.creator }),
	date_created: seconds(invite.createdTs),
	expires_at: seconds(invite.expiresTs),
	...(invite.revokedTs === null ? {} : { date_revoked: seconds(invite.revokedTs) }),
	...(invite.usedTs === null ? {} : { date_used: seconds(invite.usedTs) }),
	is_active: invite.usedTs === null && invite.revokedTs === null && invite.expiresTs > now,
});
