import { readFile } from 'node:fs/promises';
import { createLocalJWKSet, createRemoteJWKSet, errors, type JWTPayload, jwtVerify } from 'jose';
import { Rejection } from '../../model/errors.ts';
import { isTeamId, isUserId } from '../../model/ids.ts';
import { isCanonicalJwt } from './tokens.ts';

/**
 * Tokens that the integrating product signs: `sub` is the user, `team` the workspace, `exp` the expiry. The server
 * chooses the algorithms, never the token: `alg: none`, or an HMAC made with a public key, is rejected.
 */

export interface JwtOptions {
	/** For HS256; at least 32 bytes. */
	readonly secret?: string;
	/** For RS256, PS256, ES256 and EdDSA: a URL or a file. */
	readonly jwks?: string;
	/** If set, `aud` must contain it. */
	readonly audience?: string;
	/** If set, `iss` must equal it. */
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
	/** Throws a Rejection: invalid_auth, token_expired, or service_unavailable if the keys cannot be loaded. */
	verify(token: string): Promise<JwtClaims>;
}

const MIN_SECRET_BYTES = 32;
const PUBLIC_KEY_ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'];

type Expected = Pick<JwtOptions, 'audience' | 'issuer'>;
type Check = (token: string) => Promise<{ readonly payload: JWTPayload }>;

/** Returns the verifier that is configured; null if JWTs are not accepted. */
export async function jwtVerifier(options: JwtOptions, nowMs: () => number): Promise<JwtVerifier | null> {
	if (options.secret !== undefined && options.jwks !== undefined)
		throw new Error('JWT: configure a secret or a JWKS, not both');
	if (options.secret !== undefined) return withSecret(options.secret, options, nowMs);
	if (options.jwks !== undefined) return withKeySet(options.jwks, options, nowMs);
	return null;
}

function withSecret(secret: string, expected: Expected, nowMs: () => number): JwtVerifier {
	const key = new TextEncoder().encode(secret);
	if (key.length < MIN_SECRET_BYTES)
		throw new Error(`JWT: the secret must have at least ${MIN_SECRET_BYTES} bytes`);
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
			if (!isCanonicalJwt(token)) throw new Rejection('invalid_auth');
			try {
				return claimsOf((await check(token)).payload);
			} catch (error) {
				throw error instanceof Rejection ? error : rejectionOf(error);
			}
		},
	};
}

function claimsOf({ sub, team, exp, iat }: JWTPayload): JwtClaims {
	if (typeof sub !== 'string' || !isUserId(sub))
		throw new Rejection('invalid_auth', 'sub: must be a user id');
	if (typeof team !== 'string' || !isTeamId(team))
		throw new Rejection('invalid_auth', 'team: must be a workspace id');
	return { user: sub, team, expiresAt: (exp ?? 0) * 1000, issuedAt: (iat ?? 0) * 1000 };
}

/** An invalid token is the client's error; keys that cannot be loaded are an unavailable service. */
function rejectionOf(error: unknown): Rejection {
	if (error instanceof errors.JWTExpired) return new Rejection('token_expired');
	const aboutToken =
		error instanceof errors.JOSEError &&
		!(error instanceof errors.JWKSTimeout || error instanceof errors.JWKSInvalid) &&
		error.constructor !== errors.JOSEError;
	return aboutToken
		? new Rejection('invalid_auth')
		: new Rejection('service_unavailable', 'the JWKS cannot be loaded');
}
