import { readFile } from 'node:fs/promises';
import { createLocalJWKSet, createRemoteJWKSet, errors, type JWTPayload, jwtVerify } from 'jose';
import { Refusal } from '../../model/errors.ts';
import { isTeamId, isUserId } from '../../model/ids.ts';
import { isCanonicalJwt } from './tokens.ts';

/**
 * Tokens that the integrating product signs: `sub` is the user, `team` the workspace, `exp` the end. The
 * algorithms are ours to choose, never the token's: `alg: none`, or an HMAC made with a public key, is
 * no signature here.
 */

export interface JwtOptions {
	/** For HS256; at least 32 bytes. */
	readonly secret?: string;
	/** For RS256, PS256, ES256 and EdDSA: a URL or a file. */
	readonly jwks?: string;
	/** Where given, `aud` has to name it. */
	readonly audience?: string;
	/** Where given, `iss` has to be it. */
	readonly issuer?: string;
}

export interface JwtClaims {
	readonly user: string;
	readonly team: string;
	/** Ms. */
	readonly expiresAt: number;
	/** Ms; 0 without `iat`. */
	readonly issuedAt: number;
}

export interface JwtVerifier {
	/** Throws a Refusal: invalid_auth, token_expired, or service_unavailable while keys cannot be had. */
	verify(token: string): Promise<JwtClaims>;
}

const MIN_SECRET_BYTES = 32;
const PUBLIC_KEY_ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'];

type Expected = Pick<JwtOptions, 'audience' | 'issuer'>;
type Check = (token: string) => Promise<{ readonly payload: JWTPayload }>;

/** One verifier for what is configured; null where JWTs are not. */
export async function jwtVerifier(options: JwtOptions, nowMs: () => number): Promise<JwtVerifier | null> {
	if (options.secret !== undefined && options.jwks !== undefined)
		throw new Error('JWT: give a secret or a JWKS, not both');
	if (options.secret !== undefined) return withSecret(options.secret, options, nowMs);
	if (options.jwks !== undefined) return withKeySet(options.jwks, options, nowMs);
	return null;
}

function withSecret(secret: string, expected: Expected, nowMs: () => number): JwtVerifier {
	const key = new TextEncoder().encode(secret);
	if (key.length < MIN_SECRET_BYTES)
		throw new Error(`JWT: the secret needs ${MIN_SECRET_BYTES} bytes or more`);
	return verifier((token) => jwtVerify(token, key, rules(['HS256'], expected, nowMs)));
}

async function withKeySet(location: string, expected: Expected, nowMs: () => number): Promise<JwtVerifier> {
	const keys = /^https?:\/\//.test(location)
		? createRemoteJWKSet(new URL(location))
		: createLocalJWKSet(JSON.parse(await readFile(location, 'utf8')));
	return verifier((token) => jwtVerify(token, keys, rules(PUBLIC_KEY_ALGORITHMS, expected, nowMs)));
}

const rules = (algorithms: string[], { audience, issuer }: Expected, nowMs: () => number) => ({
	algorithms,
	...(audience === undefined ? {} : { audience }),
	...(issuer === undefined ? {} : { issuer }),
	requiredClaims: ['sub', 'team', 'exp'],
	currentDate: new Date(nowMs()),
});

function verifier(check: Check): JwtVerifier {
	return {
		verify: async (token) => {
			if (!isCanonicalJwt(token)) throw new Refusal('invalid_auth');
			try {
				return claimsOf((await check(token)).payload);
			} catch (error) {
				throw error instanceof Refusal ? error : refusalOf(error);
			}
		},
	};
}

function claimsOf({ sub, team, exp, iat }: JWTPayload): JwtClaims {
	if (typeof sub !== 'string' || !isUserId(sub)) throw new Refusal('invalid_auth', 'sub: not a user id');
	if (typeof team !== 'string' || !isTeamId(team))
		throw new Refusal('invalid_auth', 'team: not a workspace id');
	return { user: sub, team, expiresAt: (exp ?? 0) * 1000, issuedAt: (iat ?? 0) * 1000 };
}

/** Whatever is wrong with the token is the sender's fault; not reaching the keys is not. */
function refusalOf(error: unknown): Refusal {
	if (error instanceof errors.JWTExpired) return new Refusal('token_expired');
	const aboutToken =
		error instanceof errors.JOSEError &&
		!(error instanceof errors.JWKSTimeout || error instanceof errors.JWKSInvalid) &&
		error.constructor !== errors.JOSEError;
	return aboutToken
		? new Refusal('invalid_auth')
		: new Refusal('service_unavailable', 'the JWKS is not reachable');
}
