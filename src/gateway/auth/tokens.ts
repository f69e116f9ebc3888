import { createHash, timingSafeEqual } from 'node:crypto';
import type { RandomBytes } from '../../model/ids.ts';

/** Opaque tokens: at least 16 random bytes after a prefix that names the kind of holder, as Slack's do. */

const TOKEN_BYTES = 32;
const OPAQUE = /^xox[pbc]-[A-Za-z0-9_-]{43,}$/;
const COMPACT_JWT = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*$/;

export function newToken(isBot: boolean, random: RandomBytes): string {
	return `${isBot ? 'xoxb' : 'xoxp'}-${Buffer.from(random(TOKEN_BYTES)).toString('base64url')}`;
}

/** Slack's formats: some tools, such as slackdump, check the format of a token before they use it. */
export const TOKEN_SHAPES = ['plain', 'xoxp', 'xoxb', 'xoxc'] as const;
export type TokenShape = (typeof TOKEN_SHAPES)[number];

/** `plain` is the format of `newToken`. */
export function newTokenShaped(shape: TokenShape, isBot: boolean, random: RandomBytes): string {
	if (shape === 'plain') return newToken(isBot, random);
	// At Slack the numbers identify a workspace, a user and an app; here they are random.
	const number = (): string => Array.from(random(12), (byte) => (byte % 9) + 1).join('');
	if (shape === 'xoxb') return `xoxb-${number()}-${number()}-${Buffer.from(random(16)).toString('hex')}`;
	return `${shape}-${number()}-${number()}-${number()}-${Buffer.from(random(TOKEN_BYTES)).toString('hex')}`;
}

const APP_LEVEL = /^xapp-\d-[A-Z0-9]+-\d+-[0-9a-f]{64}$/;
export const isAppLevel = (token: string): boolean => APP_LEVEL.test(token);

/** An app-level token in Slack's format: libraries check its prefix. */
export const newAppToken = (app: string, random: RandomBytes): string =>
	`xapp-1-${app}-${Array.from(random(13), (byte) => byte % 10).join('')}-${Buffer.from(random(TOKEN_BYTES)).toString('hex')}`;

export const isOpaque = (token: string): boolean => OPAQUE.test(token);
export const looksLikeJwt = (token: string): boolean => COMPACT_JWT.test(token);

export const sha256 = (text: string): Uint8Array => createHash('sha256').update(text).digest();

export const hashToken = (token: string): string => createHash('sha256').update(token).digest('hex');

/**
 * The key under which a token is stored and revoked. For a JWT it covers the signed part only: one signature has
 * several encodings, and ECDSA allows several valid signatures of the same claims.
 */
export const tokenKey = (token: string): string =>
	hashToken(looksLikeJwt(token) ? token.slice(0, token.lastIndexOf('.')) : token);

/** Base64url leaves bits of the last character unused: accepts only the encoding that an encoder produces. */
export const isCanonicalJwt = (token: string): boolean =>
	token.split('.').every((part) => Buffer.from(part, 'base64url').toString('base64url') === part);

/** Hex digits of a hash that form the public id of a token or an invite. They cannot be used to sign in. */
export const ID_LENGTH = 16;
export const publicIdOf = ({ hash }: { readonly hash: string }): string => hash.slice(0, ID_LENGTH);

/** Constant time: hashes always have the same length. */
export const sameHash = (one: string, other: string): boolean =>
	timingSafeEqual(Buffer.from(one), Buffer.from(other));

const BEARER = /^Bearer +(.+)$/i;
/** The token in an Authorization header; '' if it has none. */
export const bearerTokenIn = (header: string): string => BEARER.exec(header)?.[1]?.trim() ?? '';
