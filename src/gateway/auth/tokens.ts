import { createHash, timingSafeEqual } from 'node:crypto';
import type { RandomBytes } from '../../model/ids.ts';

/** Opaque tokens: at least 16 random bytes behind a prefix that says, as Slack's do, whose they are. */

const TOKEN_BYTES = 32;
const OPAQUE = /^xox[pbc]-[A-Za-z0-9_-]{43,}$/;
const COMPACT_JWT = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*$/;

export function newToken(isBot: boolean, random: RandomBytes): string {
	return `${isBot ? 'xoxb' : 'xoxp'}-${Buffer.from(random(TOKEN_BYTES)).toString('base64url')}`;
}

/** Slack's own shapes, which some tools check before they use a token: slackdump, for one. */
export const TOKEN_SHAPES = ['plain', 'xoxp', 'xoxb', 'xoxc'] as const;
export type TokenShape = (typeof TOKEN_SHAPES)[number];

/** `plain`: the shape of `newToken`. */
export function newTokenShaped(shape: TokenShape, isBot: boolean, random: RandomBytes): string {
	if (shape === 'plain') return newToken(isBot, random);
	// The numbers name a workspace, a user and an app at Slack, and nothing here.
	const number = (): string => Array.from(random(12), (byte) => (byte % 9) + 1).join('');
	if (shape === 'xoxb') return `xoxb-${number()}-${number()}-${Buffer.from(random(16)).toString('hex')}`;
	return `${shape}-${number()}-${number()}-${number()}-${Buffer.from(random(TOKEN_BYTES)).toString('hex')}`;
}

const APP_LEVEL = /^xapp-\d-[A-Z0-9]+-\d+-[0-9a-f]{64}$/;
export const isAppLevel = (token: string): boolean => APP_LEVEL.test(token);

/** An app-level token, in Slack's shape: libraries look at its prefix. */
export const newAppToken = (app: string, random: RandomBytes): string =>
	`xapp-1-${app}-${Array.from(random(13), (byte) => byte % 10).join('')}-${Buffer.from(random(TOKEN_BYTES)).toString('hex')}`;

export const isOpaque = (token: string): boolean => OPAQUE.test(token);
export const looksLikeJwt = (token: string): boolean => COMPACT_JWT.test(token);

export const sha256 = (text: string): Uint8Array => createHash('sha256').update(text).digest();

export const hashToken = (token: string): string => createHash('sha256').update(token).digest('hex');

/**
 * What is stored of a token, and what it is revoked by. Of a JWT that is the signed part alone: one signature has
 * several spellings, and with ECDSA several signatures of the same claims are valid.
 */
export const tokenKey = (token: string): string =>
	hashToken(looksLikeJwt(token) ? token.slice(0, token.lastIndexOf('.')) : token);

/** Base64url leaves bits of the last character unused: only the spelling that an encoder writes is taken. */
export const isCanonicalJwt = (token: string): boolean =>
	token.split('.').every((part) => Buffer.from(part, 'base64url').toString('base64url') === part);

/** Compares in constant time: hashes have one length, whatever was sent. */
export const sameHash = (one: string, other: string): boolean =>
	timingSafeEqual(Buffer.from(one), Buffer.from(other));
