import type { Invite } from '../../../engine/ports/invites.ts';
import type { User } from '../../../engine/ports/store.ts';
import { Rejection } from '../../../model/errors.ts';
import { newId } from '../../../model/ids.ts';
import { SLACKBOT_NAME } from '../../../protocol/slackbot.ts';
import { hashToken, newToken } from '../../auth/tokens.ts';
import { accountName, namesToTry } from '../account-name.ts';
import * as type from '../argument-types.ts';
import { optional, required, withDefault } from '../arguments.ts';
import { joinGeneral } from '../general-channel.ts';
import { type Call, openMethod } from '../method.ts';
import { publishTeamJoin, publishUserChange } from '../publish-changes.ts';

/** For people with an invite link: shows the workspace that it leads to, and exchanges the link for a token, once. */

const DEVICE_LENGTH = 80;

const secret = required<string>({
	expects: 'the part of the invite link after #invite=',
	bad: 'invite_not_found',
	parse: (value) => (typeof value === 'string' && value.length <= 200 ? value : undefined),
});

export const invitesInfo = openMethod({
	arguments: { invite: secret },
	run: async (args, call) => {
		const invite = await usableInvite(call, args.invite);
		const { directory } = call.services;
		const [user] = invite.user === null ? [] : await directory.users([invite.user]);
		const team = await directory.team(invite.team);
		return {
			team: { id: invite.team, name: team?.name ?? '' },
			expires_at: Math.floor(invite.expiresTs / 1e6),
			...(user ? { user: { id: user.id, name: user.name, real_name: user.realName } } : {}),
		};
	},
});

export const invitesAccept = openMethod({
	arguments: {
		invite: secret,
		real_name: optional(accountName),
		name: optional(accountName),
		device: withDefault(type.text({ max: DEVICE_LENGTH }), ''),
	},
	run: async (args, call) => {
		const invite = await usableInvite(call, args.invite);
		const names = invite.user === null ? namesToTry(args.name, args.real_name) : [''];
		for (const name of names) {
			const accepted = await exchange(call, invite, name, args.real_name ?? name, args.device);
			if (accepted) return accepted;
		}
		throw new Rejection('name_taken', 'name: another user of the workspace has this name');
	},
});

/** Null: another user, or Slackbot, has the name. */
async function exchange(call: Call, invite: Invite, name: string, realName: string, device: string) {
	const { directory, random, clock } = call.services;
	if (name === SLACKBOT_NAME) return null;
	const createdTs = clock.next();
	const newUser: User | null =
		invite.user === null
			? {
					id: newId('U', random),
					team: invite.team,
					name,
					realName,
					email: '',
					isBot: false,
					deleted: false,
					updatedTs: createdTs,
					signedOutTs: 0,
					profile: {},
					snoozedUntilTs: 0,
				}
			: null;
	const user = newUser?.id ?? invite.user ?? '';
	const token = newToken(false, random);
	const outcome = await directory.acceptInvite(
		invite.hash,
		{
			hash: hashToken(token),
			user,
			team: invite.team,
			createdTs,
			revokedTs: null,
			expiresTs: null,
			device,
		},
		newUser,
	);
	if (outcome === 'name_taken') return null;
	if (outcome === 'used') throw new Rejection('invite_used', 'invite: this link was already used or revoked');
	const accepted = { token, user_id: user, team_id: invite.team };
	if (!newUser) return accepted;
	publishTeamJoin(call.services, newUser);
	publishUserChange(call.services, newUser);
	const general = await joinGeneral(call.services, newUser);
	return general === undefined ? accepted : { ...accepted, general_channel: general };
}

async function usableInvite({ services }: Call, given: string): Promise<Invite> {
	const { directory, clock } = services;
	const invite = await directory.invite(hashToken(given));
	if (!invite) throw new Rejection('invite_not_found', 'invite: no such invite link');
	if (invite.usedTs !== null || invite.revokedTs !== null)
		throw new Rejection('invite_used', 'invite: this link was already used or revoked');
	if (invite.expiresTs <= Math.max(clock.last(), Date.now() * 1000))
		throw new Rejection('invite_expired', 'invite: this link has expired; ask for a new one');
	if (invite.user !== null) {
		const [user] = await directory.users([invite.user]);
		if (!user || user.deleted) throw new Rejection('user_disabled', 'invite: the user is deactivated');
	}
	return invite;
}
