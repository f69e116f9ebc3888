import type { Token } from '../../../engine/ports/store.ts';
import { Rejection } from '../../../model/errors.ts';
import { publishRevocation, revokeToken } from '../../auth/revocations.ts';
import { publicIdOf } from '../../auth/tokens.ts';
import * as type from '../argument-types.ts';
import { optional } from '../arguments.ts';
import { type UserCall, userMethod, wallMicros } from '../method.ts';
import { newInvite } from '../new-invite.ts';

/** Lists, adds and ends the caller's sessions: each token is one session. */

/** Most users have far fewer. */
const MAX_SESSIONS = 1000;
const LINK_SECONDS = 3600;

export const authSessionsList = userMethod({
	arguments: {},
	run: async (_args, call) => {
		const now = wallMicros();
		const tokens = await call.services.directory.activeTokensOf(call.caller.user.id, now, MAX_SESSIONS);
		return { sessions: tokens.map((token) => wireSession(token, call, now)) };
	},
});

/** Creates a sign-in link for another device of the caller. Signing out everywhere invalidates it. */
export const authSessionsAdd = userMethod({
	arguments: {},
	run: async (_args, call) => {
		const { user, team } = call.caller;
		if (user.isBot)
			throw new Rejection(
				'not_allowed_token_type',
				'token: bots cannot use sign-in links; create a token instead',
			);
		const { invite, url } = await newInvite(
			call,
			{ team, user: user.id, label: '', creator: user.id },
			LINK_SECONDS,
		);
		return { url, expires_at: Math.floor(invite.expiresTs / 1e6) };
	},
});

export const authSessionsRevoke = userMethod({
	arguments: { session_id: optional(type.matching(/^[0-9a-f]{16}$/, 'the id of a session')), all: type.flag },
	run: async ({ session_id, all }, call) => {
		const { services, caller } = call;
		if ((session_id === undefined) === !all)
			throw new Rejection('invalid_arguments', 'session_id, all: give exactly one of them');
		if (session_id === undefined) {
			const { directory, auth, bus } = services;
			await directory.signOut(caller.user.id, wallMicros());
			auth.forgetUser(caller.user.id);
			publishRevocation(bus, null, caller.user.id);
			return { revoked: true };
		}
		const token = await services.directory.tokenStarting(session_id);
		if (token?.user !== caller.user.id)
			throw new Rejection('session_not_found', 'session_id: the caller has no such session');
		await revokeToken(services, token);
		return { revoked: true };
	},
});

function wireSession(token: Token, { caller }: UserCall, now: number) {
	const { hash, createdTs, expiresTs, device } = token;
	const isCurrent = hash === caller.tokenKey;
	const lastUsedTs = isCurrent ? now : token.lastUsedTs;
	return {
		id: publicIdOf(token),
		device: device ?? '',
		date_created: Math.floor(createdTs / 1e6),
		...(lastUsedTs === undefined ? {} : { date_last_used: Math.floor(lastUsedTs / 1e6) }),
		...(expiresTs === null ? {} : { expires_at: Math.floor(expiresTs / 1e6) }),
		is_current: isCurrent,
	};
}
