import type { Token } from '../../../engine/ports/store.ts';
import { Rejection } from '../../../model/errors.ts';
import { publishRevocation, revokeToken } from '../../auth/revocations.ts';
import { newTokenShaped, publicIdOf, TOKEN_SHAPES, tokenKey } from '../../auth/tokens.ts';
import * as type from '../argument-types.ts';
import { optional, required, withDefault } from '../arguments.ts';
import { adminMethod, type Call, wallMicros } from '../method.ts';
import { nextCursor } from '../paging.ts';
import { userWithId } from './admin-accounts.ts';

/** Administration of tokens. A token is shown only once; afterwards it is identified by its id. */

const PAGE = 100;
const MAX_SECONDS = 10 * 365 * 86_400;
const TOKEN_ID = /^[0-9a-f]{16}$/;

const expiresIn = optional(
	required<number>({
		expects: `seconds, a whole number from 1 to ${MAX_SECONDS}`,
		parse: (value) => {
			const seconds = type.count.parse(value, 'expires_in');
			return seconds !== undefined && seconds >= 1 && seconds <= MAX_SECONDS ? seconds : undefined;
		},
	}),
);

const tokenId = required<string>({
	expects: 'the id of a token',
	bad: 'token_not_found',
	parse: (value) => (typeof value === 'string' && TOKEN_ID.test(value) ? value : undefined),
});

export const adminTokensCreate = adminMethod({
	arguments: {
		user_id: type.user,
		expires_in: expiresIn,
		shape: withDefault(type.oneOf(TOKEN_SHAPES), 'plain'),
	},
	run: async (args, call) => {
		const { directory, random, clock } = call.services;
		const user = await userWithId(call, args.user_id);
		if (user.deleted) throw new Rejection('user_disabled', 'user_id: the user is deactivated');
		const token = newTokenShaped(args.shape, user.isBot, random);
		const createdTs = clock.next();
		const expiresTs = args.expires_in === undefined ? null : createdTs + args.expires_in * 1e6;
		await directory.createToken({
			hash: tokenKey(token),
			user: user.id,
			team: user.team,
			createdTs,
			revokedTs: null,
			expiresTs,
		});
		return { token, user_id: user.id, team_id: user.team, ...dated('expires_at', expiresTs) };
	},
});

export const adminTokensList = adminMethod({
	arguments: { user_id: type.user, limit: type.limit(PAGE), cursor: type.cursor('after') },
	run: async (args, call) => {
		const { directory, clock } = call.services;
		await userWithId(call, args.user_id);
		const page = await directory.tokensOf(args.user_id, args.cursor ?? null, args.limit);
		const now = Math.max(clock.last(), Date.now() * 1000);
		return {
			tokens: page.items.map((token) => wireToken(token, now)),
			...nextCursor('after', page.next),
		};
	},
});

export const adminTokensRevoke = adminMethod({
	arguments: { token: optional(type.secret), token_id: optional(tokenId), user_id: optional(type.user) },
	run: async (args, call) => {
		const { token, token_id, user_id } = args;
		const given = [token, token_id, user_id].filter((value) => value !== undefined);
		if (given.length === 0)
			throw new Rejection('missing_argument', 'token: required, or token_id, or user_id');
		if (given.length > 1)
			throw new Rejection('invalid_arguments', 'token, token_id, user_id: give exactly one of them');
		if (user_id !== undefined) await revokeAllOf(call, user_id);
		else await revokeToken(call.services, await tokenToRevoke(call, token, token_id));
		return { revoked: true };
	},
});

async function revokeAllOf(call: Call, user: string): Promise<void> {
	const { directory, auth, bus } = call.services;
	await userWithId(call, user);
	await directory.signOut(user, wallMicros());
	auth.forgetUser(user);
	publishRevocation(bus, null, user);
}

async function tokenToRevoke({ services }: Call, token: string | undefined, id: string | undefined) {
	if (token !== undefined) {
		const holder = await services.auth.userOfToken(token);
		if (holder) return { ...holder, hash: tokenKey(token) };
	}
	const stored = id === undefined ? null : await services.directory.tokenStarting(id);
	if (!stored)
		throw new Rejection('token_not_found', `${id === undefined ? 'token' : 'token_id'}: no such token`);
	return stored;
}

const dated = (name: string, micros: number | null) =>
	micros === null ? {} : { [name]: Math.floor(micros / 1e6) };

const wireToken = ({ hash, user, createdTs, revokedTs, expiresTs, device }: Token, now: number) => ({
	id: publicIdOf({ hash }),
	user_id: user,
	date_created: Math.floor(createdTs / 1e6),
	...(device ? { device } : {}),
	...dated('expires_at', expiresTs),
	...dated('date_revoked', revokedTs),
	is_active: revokedTs === null && (expiresTs === null || expiresTs > now),
});
